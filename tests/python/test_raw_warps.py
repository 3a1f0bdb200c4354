"""Kernels whose threads exchange values by shuffles, beside statements that have no vector form of their own."""

import numpy as np
import pytest

import iruka
from iruka.errors import CompileError, DeviceError

FULL = "0xffffffffu"
DOWN = f"v += __shfl_down_sync({FULL}, v, 1);"


def on_device(values):
    return iruka.array(np.asarray(values))


def shifted(x):
    """What DOWN makes of the values of whole warps."""
    warps = x.reshape(-1, 32)
    return (warps + np.concatenate([warps[:, 1:], warps[:, -1:]], 1)).reshape(-1)


def kernel(parameters, body, before=""):
    return iruka.RawKernel(f'{before}\nextern "C" __global__ void f({parameters}) {{ {body} }}', "f")


class TestPrinting:
    @pytest.mark.cpu_only
    def test_printf(self, capfd):
        f = kernel("const int* x, int* out", f"""
            int v = x[threadIdx.x];
            {DOWN}
            if (v % 3 == 0) printf("thread %d: %d %.1f %s\\n", threadIdx.x, v, 0.5 * v, v > 40 ? "high" : "low");
            out[threadIdx.x] = v;""")  # fmt: skip
        x = np.arange(64, dtype="i4")
        out = iruka.zeros(64, "i4")
        f((1,), (64,), (on_device(x), out))
        expected = shifted(x)
        np.testing.assert_array_equal(iruka.asnumpy(out), expected)
        lines = [f"thread {t}: {v} {0.5 * v:.1f} {'high' if v > 40 else 'low'}"
                 for t, v in enumerate(expected) if v % 3 == 0]  # fmt: skip
        assert capfd.readouterr().out.split("\n") == [*lines, ""]

    def test_assert(self):
        f = kernel("const int* x, int* out, int most",
                   f"int v = x[threadIdx.x]; {DOWN} assert(v <= most); out[threadIdx.x] = v;")  # fmt: skip
        x = np.arange(96, dtype="i4")
        out = iruka.zeros(96, "i4")
        f((1,), (96,), (on_device(x), out, 189 + 1))
        np.testing.assert_array_equal(iruka.asnumpy(out), shifted(x))
        with pytest.raises(DeviceError, match="v <= most"):
            f((1,), (96,), (on_device(x), out, 100))
            iruka.asnumpy(out)


class TestQueues:
    """Loops that take numbers from a counter end by themselves, so no thread waits for another."""

    @pytest.mark.parametrize("threads", [32, 96, 100])
    @pytest.mark.parametrize("condition", [
        "while ((item = atomicAdd(next, 1)) < n) {", "for (;;) { item = atomicAdd(next, 1); if (item >= n) break;",
        "while (true) { item = atomicAdd(next, 1); if (!(item < n && n > 0)) break;",
        "while (n > (item = (int)atomicAdd((unsigned*)next, 1u))) {",
    ])  # fmt: skip
    def test_one_item_at_a_time(self, condition, threads):
        f = kernel("int* next, int* out, int n", f"""
            int item, v = 1;
            {DOWN}
            {condition} atomicAdd(out + item, 1); }}
            v += __shfl_xor_sync({FULL}, v, 1);""")  # fmt: skip
        out, next_item = iruka.zeros(1000, "i4"), iruka.zeros(1, "i4")
        f((3,), (threads,), (next_item, out, 1000))
        np.testing.assert_array_equal(iruka.asnumpy(out), np.ones(1000))
        assert int(next_item[0]) == 1000 + 3 * threads

    def test_a_counter_that_falls(self):
        f = kernel("int* left, int* out", f"""
            int v = threadIdx.x, item;
            {DOWN}
            while ((item = atomicSub(left, 1)) > 0) atomicAdd(out + item - 1, v * 0 + 1);""")  # fmt: skip
        out, left = iruka.zeros(500, "i4"), on_device(np.array([500], "i4"))
        f((2,), (64,), (left, out))
        np.testing.assert_array_equal(iruka.asnumpy(out), np.ones(500))

    def test_a_warp_takes_items_together(self):
        f = kernel("int* next, const int* x, int* out, int n", f"""
            int lane = threadIdx.x % 32;
            for (;;) {{
              int row = 0;
              if (lane == 0) row = atomicAdd(next, 1);
              row = __shfl_sync({FULL}, row, 0);
              if (row >= n) break;
              int v = x[32 * row + lane];
              for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync({FULL}, v, k);
              if (lane == 0) out[row] = v;
            }}""")  # fmt: skip
        x = np.random.default_rng(1).integers(-99, 99, (301, 32)).astype("i4")
        out, next_row = iruka.zeros(301, "i4"), iruka.zeros(1, "i4")
        f((4,), (64,), (next_row, on_device(x), out, 301))
        np.testing.assert_array_equal(iruka.asnumpy(out), x.sum(1))

    @pytest.mark.cpu_only
    @pytest.mark.parametrize("wait", [
        "while (atomicCAS(lock, 0, 1) != 0) {}", "while (atomicExch(lock, 1)) {}", "while (atomicAdd(lock, 0) < 1) {}",
        "while (atomicAdd(lock, 1) > 0) atomicSub(lock, 1);", "while (atomicOr(lock, 1) & 1) {}",
        "while (atomicAdd(lock, -1) < 0) {}",
    ])  # fmt: skip
    def test_locks_are_refused(self, wait):
        f = kernel("int* lock, int* out", f"int v = 1; {DOWN} {wait} out[threadIdx.x] = v; atomicExch(lock, 0);")
        with pytest.raises(CompileError, match="need lanes.*a loop that waits for an atomic, such as a lock"):
            f((1,), (32,), (iruka.zeros(1, "i4"), iruka.zeros(32, "i4")))


class TestFunctions:
    def test_recursion(self):
        before = "__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }"
        f = kernel("const int* x, int* out",
                   f"int v = x[threadIdx.x]; {DOWN} if (v % 2) out[threadIdx.x] = factorial(v % 11);", before)  # fmt: skip
        x = np.arange(64, dtype="i4") // 3
        out = iruka.zeros(64, "i4")
        f((1,), (64,), (on_device(x), out))
        expected = [int(np.prod(np.arange(1, v % 11 + 1))) if v % 2 else 0 for v in shifted(x)]
        np.testing.assert_array_equal(iruka.asnumpy(out), expected)

    def test_recursion_over_structures(self):
        before = """struct Pair { double a; int b; };
        __device__ Pair walk(const int* next, Pair p, int left) {
          if (left == 0) return p;
          p.a += next[p.b]; p.b = next[p.b];
          return walk(next, p, left - 1);
        }"""
        f = kernel("const int* next, double* out", f"""
            int v = threadIdx.x;
            {DOWN}
            Pair end = walk(next, Pair{{0.5, (int)threadIdx.x}}, v % 5);
            out[threadIdx.x] = end.a + 1000 * end.b;""", before)  # fmt: skip
        following = np.random.default_rng(4).permutation(32).astype("i4")
        out = iruka.zeros(32, "f8")
        f((1,), (32,), (on_device(following), out))
        expected = []
        for thread, v in enumerate(shifted(np.arange(32))):
            a, b = 0.5, thread
            for _ in range(v % 5):
                a, b = a + following[b], following[b]
            expected.append(a + 1000 * b)
        np.testing.assert_array_equal(iruka.asnumpy(out), expected)

    def test_pointers_to_functions(self):
        before = """__device__ int twice(int x) { return 2 * x; }
        __device__ int less(int x) { return x - 1; }"""
        f = kernel("const int* x, int* out", f"""
            int v = x[threadIdx.x];
            {DOWN}
            int (*way)(int) = x[threadIdx.x] % 3 ? twice : less;
            out[threadIdx.x] = way(v);""", before)  # fmt: skip
        x = np.arange(32, dtype="i4") * 7 % 19
        out = iruka.zeros(32, "i4")
        f((1,), (32,), (on_device(x), out))
        v = shifted(x)
        np.testing.assert_array_equal(iruka.asnumpy(out), np.where(x % 3, 2 * v, v - 1))


class TestMemory:
    @pytest.mark.parametrize("count", [512, 1024, 3000])
    def test_large_local_arrays(self, count):
        f = kernel("const int* x, int* out", f"""
            int v = x[threadIdx.x], own[{count}];
            for (int k = 0; k < {count}; ++k) own[k] = k * v;
            {DOWN}
            for (int k = 1; k < {count}; ++k) own[k] += own[(k * 7 + v) % k];
            out[threadIdx.x] = own[{count - 1}] + v;""")  # fmt: skip
        x = np.arange(32, dtype="i4") % 5
        out = iruka.zeros(32, "i4")
        f((1,), (32,), (on_device(x), out))
        v = shifted(x)
        expected = []
        for thread in range(32):
            own = [k * int(x[thread]) for k in range(count)]
            for k in range(1, count):
                own[k] = (own[k] + own[(k * 7 + int(v[thread])) % k] + 2**31) % 2**32 - 2**31
            expected.append(own[-1] + int(v[thread]))
        np.testing.assert_array_equal(iruka.asnumpy(out), expected)

    def test_copies_of_unknown_length(self):
        f = kernel("const char* x, char* out", f"""
            int v = threadIdx.x;
            {DOWN}
            char own[64];
            memset(own, 7, 64);
            memcpy(own, x + threadIdx.x, v % 40);
            for (int k = 0; k < 64; ++k) out[64 * threadIdx.x + k] = own[k];""")  # fmt: skip
        x = np.arange(100, dtype="u1")
        out = iruka.zeros((32, 64), "u1")
        f((1,), (32,), (on_device(x), out))
        expected = np.full((32, 64), 7, "u1")
        for thread, v in enumerate(shifted(np.arange(32))):
            expected[thread, : v % 40] = x[thread : thread + v % 40]
        np.testing.assert_array_equal(iruka.asnumpy(out), expected)

    def test_variables_of_the_module(self):
        code = f"""
        __device__ int last;
        __device__ int table[4] = {{1, 2, 3, 4}};
        extern "C" __global__ void f(int* out) {{
          int v = threadIdx.x;
          {DOWN}
          if (threadIdx.x == 31) last = v;
          __syncthreads();
          out[threadIdx.x] = last + table[threadIdx.x % 4];
          if (threadIdx.x < 4) table[threadIdx.x] += 10;
        }}"""
        module, out = iruka.RawModule(code), iruka.zeros(32, "i4")
        for k in range(2):
            module.get_function("f")((1,), (32,), (out,))
            np.testing.assert_array_equal(iruka.asnumpy(out), 62 + np.arange(32) % 4 + 1 + 10 * k)

    @pytest.mark.parametrize("members, values", [
        ("int a; char b;", "{t * 3, (char)t}"), ("char a; double b;", "{(char)t, t * 0.5}"),
        ("short a; char b;", "{(short)(t * 5), (char)t}"), ("char a; short b; char c; int d;", "{1, (short)t, 2, t}"),
    ])  # fmt: skip
    def test_structures_with_padding_are_shuffled_by_value(self, members, values):
        before = f"struct S {{ {members} }};"
        f = kernel("int* out", f"""
            int t = threadIdx.x;
            S own = {values};
            S other = __shfl_xor_sync({FULL}, own, 5);
            t ^= 5;
            S expected = {values};
            out[threadIdx.x] = other.a == expected.a && other.b == expected.b;""", before)  # fmt: skip
        if iruka.default_device().name != "cpu":
            pytest.skip("CUDA shuffles numbers, not structures")
        out = iruka.zeros(64, "i4")
        f((1,), (64,), (out,))
        np.testing.assert_array_equal(iruka.asnumpy(out), np.ones(64))
