"""Cooperative launches, and the groups of threads of <cooperative_groups.h>."""

import numpy as np
import pytest

import iruka
from iruka.errors import CompileError, DeviceError

HEAD = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"


def on_device(values):
    return iruka.array(np.asarray(values))


def kernel(parameters, body, before="", **keywords):
    return iruka.RawKernel(
        f'{HEAD}{before}\nextern "C" __global__ void f({parameters}) {{\n{body}\n}}', "f", **keywords
    )


class TestGrids:
    @pytest.mark.parametrize("blocks, threads", [(1, 1), (1, 64), (7, 33), (64, 128), (20, 1)])
    def test_blocks_wait_for_each_other(self, blocks, threads):
        """Each round reads what another block wrote in the round before."""
        f = kernel("int* a, int* b, int n, int rounds", """
            cg::grid_group grid = cg::this_grid();
            int i = (int)grid.thread_rank();
            for (int round = 0; round < rounds; ++round) {
              b[i] = a[(i + 37) % n] * 3 + round;
              grid.sync();
              int* t = a; a = b; b = t;
            }""", enable_cooperative_groups=True)  # fmt: skip
        n = blocks * threads
        expected = np.arange(n, dtype="i4")
        a, b = on_device(expected), iruka.zeros(n, "i4")
        f((blocks,), (threads,), (a, b, n, 5))
        for k in range(5):
            expected = (np.roll(expected, -37) * 3 + k).astype("i4")
        np.testing.assert_array_equal(iruka.asnumpy(b), expected)

    def test_blocks_keep_their_memory(self):
        """Shared and local variables live across the barriers of the grid and of the block."""
        f = kernel("const float* x, float* parts, float* out", """
            __shared__ float sum[128];
            extern __shared__ float more[];
            cg::thread_block block = cg::this_thread_block();
            cg::grid_group grid = cg::this_grid();
            int t = block.thread_rank();
            float own = x[grid.thread_rank()];
            sum[t] = own; more[t] = 2 * own;
            block.sync();
            for (int step = 64; step > 0; step /= 2) {
              if (t < step) sum[t] += sum[t + step];
              block.sync();
            }
            if (t == 0) parts[blockIdx.x] = sum[0];
            grid.sync();
            float total = 0;
            for (int k = 0; k < gridDim.x; ++k) total += parts[k];
            out[grid.thread_rank()] = own / total + sum[0] + more[127 - t];""", enable_cooperative_groups=True)  # fmt: skip
        x = np.arange(1280, dtype="f4") % 17
        parts, out = iruka.zeros(10, "f4"), iruka.zeros(1280, "f4")
        f((10,), (128,), (on_device(x), parts, out), shared_mem=512)
        blocks = x.reshape(10, 128)
        expected = blocks / x.sum() + blocks.sum(1, keepdims=True) + 2 * blocks[:, ::-1]
        np.testing.assert_allclose(iruka.asnumpy(out), expected.reshape(-1), rtol=1e-6)

    def test_what_a_grid_tells(self):
        f = kernel("unsigned long long* out", """
            auto grid = cg::this_grid();
            auto block = cg::this_thread_block();
            grid.sync();
            unsigned long long* own = out + 8 * grid.thread_rank();
            own[0] = grid.size(); own[1] = grid.num_blocks(); own[2] = grid.block_rank(); own[3] = grid.is_valid();
            own[4] = block.size(); own[5] = block.thread_rank(); own[6] = grid.thread_rank();
            own[7] = block.group_index().y * 100 + block.thread_index().z * 10 + grid.dim_blocks().y;
            """, enable_cooperative_groups=True)  # fmt: skip
        grid, block = (3, 2, 2), (4, 3, 2)
        out = iruka.zeros((288, 8), "u8")
        f(grid, block, (out,))
        rank = np.arange(288)
        thread = rank % 24
        expected = np.stack([
            np.full(288, 288), np.full(288, 12), rank // 24, np.ones(288), np.full(288, 24), thread, rank,
            rank // 24 // 3 % 2 * 100 + thread // 12 * 10 + 2,
        ], 1)  # fmt: skip
        np.testing.assert_array_equal(iruka.asnumpy(out), expected)

    def test_threads_that_have_ended_are_not_waited_for(self):
        f = kernel("int* x, int* out", """
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            x[i] = i;
            if (threadIdx.x >= 20) return;
            cg::this_grid().sync();
            out[i] = x[(i + 1000) % 2048] + 1;""", enable_cooperative_groups=True)  # fmt: skip
        if iruka.default_device().name != "cpu":
            pytest.skip("a GPU's barrier of the grid is for all threads")
        x, out = iruka.zeros(2048, "i4"), iruka.zeros(2048, "i4")
        f((32,), (64,), (x, out))
        i = np.arange(2048)
        np.testing.assert_array_equal(iruka.asnumpy(out), np.where(i % 64 < 20, (i + 1000) % 2048 + 1, 0))

    def test_shuffles_beside_barriers_of_the_grid(self):
        f = kernel("int* x, int* out", """
            auto grid = cg::this_grid();
            auto warp = cg::tiled_partition<32>(cg::this_thread_block());
            int v = x[grid.thread_rank()];
            for (int step = 16; step > 0; step /= 2) v += warp.shfl_down(v, step);
            if (warp.thread_rank() == 0) atomicAdd(out, v);
            grid.sync();
            x[grid.thread_rank()] = out[0];""", enable_cooperative_groups=True)  # fmt: skip
        values = np.arange(8 * 96, dtype="i4")
        x, out = on_device(values), iruka.zeros(1, "i4")
        f((8,), (96,), (x, out))
        np.testing.assert_array_equal(iruka.asnumpy(x), np.full(8 * 96, values.sum()))

    @pytest.mark.cpu_only  # on GPUs such a barrier is undefined
    def test_a_launch_that_is_not_cooperative_is_refused(self):
        f = kernel("int* out", "cg::this_grid().sync(); out[0] = 1;")
        out = iruka.zeros(1, "i4")
        with pytest.raises(DeviceError, match="cooperative launch.*enable_cooperative_groups=True"):
            f((2,), (32,), (out,))
            iruka.asnumpy(out)

    def test_kernels_without_barriers_of_the_grid(self):
        f = kernel("int* out", "atomicAdd(out, 1);", enable_cooperative_groups=True)
        out = iruka.zeros(1, "i4")
        f((5,), (64,), (out,))
        assert int(out[0]) == 320

    @pytest.mark.parametrize("blocks", [1 << 21, (1 << 14, 1 << 14)])
    def test_too_many_blocks(self, blocks):
        f = kernel("int* out", "cg::this_grid().sync(); out[0] = 1;", enable_cooperative_groups=True)
        with pytest.raises(ValueError, match="cooperative"):
            f(blocks, (64,), (iruka.zeros(1, "i4"),))

    @pytest.mark.cpu_only
    def test_memory_is_limited(self):
        f = kernel("int* out", "__shared__ int s[50000]; s[threadIdx.x] = 1; cg::this_grid().sync(); out[0] = s[0];",
                   enable_cooperative_groups=True)  # fmt: skip
        with pytest.raises(DeviceError, match="at most 2 GiB of memory"):
            f((1 << 15,), (1,), (iruka.zeros(1, "i4"),))

    @pytest.mark.cpu_only
    def test_barriers_that_a_block_does_not_reach_together(self):
        f = kernel("int* out", "if (threadIdx.x < 64) cg::this_grid().sync(); else __syncthreads(); out[0] = 1;",
                   enable_cooperative_groups=True)  # fmt: skip
        with pytest.raises(DeviceError, match="all threads of a block wait for the grid together"):
            f((2,), (128,), (iruka.zeros(1, "i4"),))

    def test_modules(self):
        code = f"""{HEAD}
        __device__ int counter;
        extern "C" __global__ void count(int* out) {{
          atomicAdd(&counter, 1);
          cg::this_grid().sync();
          if (cg::this_grid().thread_rank() == 0) out[0] = counter;
        }}"""
        module, out = iruka.RawModule(code=code, enable_cooperative_groups=True), iruka.zeros(1, "i4")
        for k in (1, 2):
            module.get_function("count")((4,), (100,), (out,))
            assert int(out[0]) == 400 * k


class TestTiles:
    @pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 32])
    def test_shuffles_and_votes(self, size):
        f = kernel("const int* x, int* out", f"""
            auto tile = cg::tiled_partition<{size}>(cg::this_thread_block());
            int t = threadIdx.x, v = x[t];
            int* own = out + 12 * t;
            own[0] = tile.thread_rank(); own[1] = tile.size();
            own[2] = tile.meta_group_rank(); own[3] = tile.meta_group_size();
            own[4] = tile.shfl(v, 1); own[5] = tile.shfl_up(v, 1); own[6] = tile.shfl_down(v, 1);
            own[7] = tile.shfl_xor(v, {size // 2});
            own[8] = tile.any(v > 90); own[9] = tile.all(v > 5); own[10] = (int)tile.ballot(v & 1);
            tile.sync();
            own[11] = (int)tile.match_any(v % 3);""")  # fmt: skip
        x = np.random.default_rng(3).integers(0, 100, 96).astype("i4")
        out = iruka.zeros((96, 12), "i4")
        f((1,), (96,), (on_device(x), out))
        tiles = x.reshape(-1, size)
        rank = np.broadcast_to(np.arange(size), tiles.shape)

        def bits(flags):
            return (flags.astype("u8") << np.arange(size, dtype="u8")).sum(-1).astype("u4").view("i4")

        def of(index):
            return np.take_along_axis(tiles, index, 1)

        wide = np.broadcast_to
        expected = np.stack([
            rank, wide(size, tiles.shape), wide(np.arange(len(tiles))[:, None], tiles.shape),
            wide(len(tiles), tiles.shape), of(wide(1 % size, tiles.shape)), of(np.maximum(rank - 1, 0)),
            of(np.minimum(rank + 1, size - 1)), of(rank ^ size // 2),
            wide((tiles > 90).any(1)[:, None], tiles.shape), wide((tiles > 5).all(1)[:, None], tiles.shape),
            wide(bits(tiles & 1)[:, None], tiles.shape),
            bits(tiles[:, :, None] % 3 == tiles[:, None, :] % 3),
        ], -1).reshape(96, 12)  # fmt: skip
        np.testing.assert_array_equal(iruka.asnumpy(out), expected)

    def test_functions_take_groups(self):
        """The reduction of NVIDIA's introduction to cooperative groups, over a block and over tiles."""
        before = """
        template <class Group> __device__ int sum(Group g, int* temp, int v) {
          int lane = g.thread_rank();
          for (int k = g.size() / 2; k > 0; k /= 2) {
            temp[lane] = v;
            g.sync();
            if (lane < k) v += temp[lane + k];
            g.sync();
          }
          return v;
        }
        __device__ int sum_of_any(cg::thread_group g, int* temp, int v) { return sum(g, temp, v); }
        template <int size> __device__ int sum_of_tile(cg::thread_block_tile<size> g, int v) {
          for (int k = g.size() / 2; k > 0; k /= 2) v += g.shfl_down(v, k);
          return v;
        }"""
        f = kernel("const int* x, int* out", """
            extern __shared__ int temp[];
            cg::thread_block block = cg::this_thread_block();
            cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
            cg::thread_block_tile<8> part = cg::tiled_partition<8>(warp);
            int v = x[threadIdx.x];
            int a = sum(block, temp, v), b = sum_of_any(block, temp, v), c = sum_of_tile<32>(warp, v);
            int d = sum_of_tile<8>(part, v), e = sum(warp, temp + 32 * warp.meta_group_rank(), v);
            if (block.thread_rank() == 0) { out[0] = a; out[1] = b; }
            if (warp.thread_rank() == 0) { out[2 + warp.meta_group_rank()] = c; out[26 + warp.meta_group_rank()] = e; }
            if (part.thread_rank() == 0) out[10 + threadIdx.x / 8] = d;""", before)  # fmt: skip
        x = np.random.default_rng(1).integers(-100, 100, 128).astype("i4")
        out = iruka.zeros(30, "i4")
        f((1,), (128,), (on_device(x), out), shared_mem=512)
        found, warps = iruka.asnumpy(out), x.reshape(4, 32).sum(1)
        assert found[0] == found[1] == x.sum()
        np.testing.assert_array_equal(found[2:6], warps)
        np.testing.assert_array_equal(found[10:26], x.reshape(16, 8).sum(1))
        np.testing.assert_array_equal(found[26:30], warps)

    def test_coalesced_threads(self):
        f = kernel("int* counter, int* out", """
            int t = threadIdx.x;
            if (t % 3 == 1) {
              auto active = cg::coalesced_threads();
              int first = 0;
              if (active.thread_rank() == 0) first = atomicAdd(counter, (int)active.size());
              first = active.shfl(first, 0);
              out[t] = 1000 * (first + active.thread_rank()) + 10 * active.ballot(t % 2) % 997 + active.any(t == 31);
            }""")  # fmt: skip
        counter, out = iruka.zeros(1, "i4"), iruka.zeros(32, "i4")
        f((1,), (32,), (counter, out))
        active = np.arange(1, 32, 3)
        votes = sum(int(t % 2) << k for k, t in enumerate(active))
        expected = np.zeros(32, "i4")
        expected[active] = 1000 * np.arange(len(active)) + 10 * votes % 997 + 1
        np.testing.assert_array_equal(iruka.asnumpy(out), expected)
        assert int(counter[0]) == len(active)

    def test_sizes_of_tiles(self):
        with pytest.raises(CompileError, match="1, 2, 4, 8, 16 or 32 threads"):
            kernel("int* out", "out[0] = cg::tiled_partition<12>(cg::this_thread_block()).size();").compile()

    @pytest.mark.cpu_only
    def test_other_kernels_have_no_groups(self):
        with pytest.raises(CompileError, match="groups of threads are for RawKernel"):
            iruka.ElementwiseKernel("float32 x", "float32 y", "y = x", "plain", preamble=HEAD)(iruka.ones(3, "f4"))
