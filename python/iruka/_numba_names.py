"""What to write in place of Numba's names, by the module that a program looks for them in."""

from __future__ import annotations

_KERNEL = "in a function under @iruka.jit.rawkernel()"
_IN_CUDA_CPP = f"no function {_KERNEL} has it; iruka.RawKernel takes CUDA C++ with CUDA's name"
_BLOCKS = "use iruka.jit.syncthreads and shared memory"
_ONE_PROCESS = "memory of a GPU is not shared between processes"

#: iruka.cuda: Numba's module cuda.
CUDA = {
    "jit": "write the kernel under @iruka.jit.rawkernel(), and launch it as kernel[grid, block](...)",
    **{name: f"use iruka.jit.{name} {_KERNEL}" for name in (
        "grid", "gridsize", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpsize", "syncthreads", "syncwarp",
        "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")},
    "laneid": f"use iruka.jit.laneid() {_KERNEL}",
    "shared": f"use iruka.jit.shared_memory(dtype, shape) {_KERNEL}",
    "local": f"write x = numpy.zeros(4, dtype) {_KERNEL}: an array of each thread",
    "const": "an array outside of the kernel is a table of constants: read it by its name",
    "atomic": f"use iruka.jit.atomic_add(array, index, value), and iruka.jit.atomic_max and so on, {_KERNEL}",
    "cg": "split the kernel where the grid must wait, or use iruka.RawKernel, which takes cooperative groups",
    **dict.fromkeys(("syncthreads_and", "syncthreads_or", "syncthreads_count"), _BLOCKS),
    **dict.fromkeys(
        ("activemask", "all_sync", "any_sync", "ballot_sync", "brev", "clz", "ffs",
         "match_all_sync", "match_any_sync", "nanosleep", "popc", "threadfence", "threadfence_block",
         "threadfence_system"), _IN_CUDA_CPP),
    "cbrt": "use numpy.cbrt",
    "fma": "write a * b + c, or math.fma where Python has it",
    "selp": "write a if condition else b",
    "fp16": "use numpy.float16",
    "declare_device": "kernels call no compiled code of others; write the function in Python, or use iruka.RawModule",
    **dict.fromkeys(("reduce", "Reduce"), "use iruka.ReductionKernel, or f.reduce of a function under iruka.vectorize"),
    "event_elapsed_time": "use iruka.cuda.get_elapsed_time(first, second)",
    "external_stream": "use iruka.cuda.ExternalStream(pointer)",
    "legacy_default_stream": "use iruka.cuda.Stream.null, or iruka.cuda.default_stream()",
    "per_thread_default_stream": "use iruka.cuda.Stream.ptds",
    "pinned": "use iruka.cuda.pinned_array(shape, dtype), whose memory is page-locked from the start",
    "mapped": "use iruka.cuda.mapped_array(shape, dtype), and iruka.cuda.as_cuda_array(it) in kernels",
    "defer_cleanup": "memory goes back to iruka.get_default_memory_pool() without a cleanup",
    **dict.fromkeys(("open_ipc_array", "get_ipc_handle"), _ONE_PROCESS),
    "detect": "use iruka.show_config()",
    **dict.fromkeys(("list_devices", "gpus"),
                    "use [iruka.cuda.Device(i) for i in range(iruka.cuda.runtime.getDeviceCount())]"),
    "select_device": "use iruka.cuda.Device(i).use()",
    "get_current_device": "use iruka.cuda.Device()",
    **dict.fromkeys(("current_context", "require_context"),
                    "a device has one context, made on first use; see iruka.cuda.Device() and its mem_info"),
    "close": "nothing is to be closed; iruka.free_held_memory() gives memory back",
    **dict.fromkeys(("profile_start", "profile_stop", "profiling"),
                    "use iruka.profiler.benchmark(function, arguments), or NVIDIA's profilers from outside"),
    **dict.fromkeys(("compile", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device"),
                    "kernel.cached_code of a kernel by iruka.jit.rawkernel is its C++; iruka.RawKernel takes it"),
    "set_memory_manager": "all memory comes from iruka.get_default_memory_pool()",
}  # fmt: skip

#: iruka.jit, a module with CuPy's names, of which Numba has others.
JIT = {
    **{name: CUDA[name] for name in ("atomic", "cbrt", "const", "fma", "jit", "local", "selp", "shared")},
    **{name: instead for name, instead in CUDA.items() if instead in (_BLOCKS, _IN_CUDA_CPP)},
}  # fmt: skip

#: iruka itself: Numba's own module.
IRUKA = {
    **dict.fromkeys(("njit", "generated_jit", "cfunc"),
                    "use iruka.vectorize for a function of numbers, iruka.guvectorize for one of small arrays, "
                    "iruka.jit.rawkernel for one of threads"),
    "prange": "write range: kernels run over all elements in parallel, and a loop inside of one runs in one thread",
    "stencil": "write the loops in iruka.guvectorize, or x[i - 1] in iruka.StagedKernel or iruka.ElementwiseKernel",
    "threading_layer": "use iruka.get_num_threads and iruka.set_num_threads",
    "objmode": "a kernel calls nothing of Python's; call the function outside",
    "typed": "kernels take arrays, tuples and numbers",
    "jitclass": "kernels take arrays, tuples and numbers",
    "literal_unroll": "write a loop over the tuple",
    "from_dtype": "use iruka.dtype",
    "typeof": "use x.dtype",
    "float32x4": "use iruka.ElementwiseKernel, whose elements share a vector",
}  # fmt: skip

#: What `@iruka.jit` is told, which is a module.
JIT_IS_A_MODULE = (
    "iruka.jit is a module, no decorator: write @iruka.jit.rawkernel() for a kernel of threads, @iruka.vectorize for a "
    "function of numbers, @iruka.guvectorize for one of small arrays"
)
