"""Timing of GPU and CPU work, as cupyx.profiler does it."""

from __future__ import annotations

import math
import time

import numpy

from . import cuda
from ._core import Device, default_device
from ._public_names import dir_of as _dir_of
from .errors import ValueError


class PerfCaseResult:
    """What benchmark() measured, in seconds; print it for a line in microseconds."""

    def __init__(self, name: str, times: numpy.ndarray, devices: tuple[int, ...]):
        self.name = name
        self._times = times
        self._devices = devices

    @property
    def cpu_times(self) -> numpy.ndarray:
        """Of each run, the time that the host was busy: float64, shape (runs,)."""
        return self._times[0]

    @property
    def gpu_times(self) -> numpy.ndarray:
        """Of each GPU and run, the time between the events around it: float64, shape (GPUs, runs)."""
        return self._times[1:]

    @staticmethod
    def _describe(device, times):
        times = times * 1e6
        text = f"    {device}: {times.mean():9.03f} us"
        if times.size > 1:
            text += f"   +/- {times.std():6.03f} (min: {times.min():9.03f} / max: {times.max():9.03f}) us"
        return text

    def to_str(self, show_gpu: bool = False) -> str:
        """The line that is printed; GPUs are included on request."""
        parts = [self._describe("CPU", self.cpu_times)]
        if show_gpu:
            parts += [self._describe(f"GPU-{id}", times) for id, times in zip(self._devices, self.gpu_times)]
        return f"{self.name:<20s}:{' '.join(parts)}"

    def __str__(self):
        return self.to_str(show_gpu=True)

    __repr__ = __str__


class _Events:
    """A pair of events around a run, on one GPU."""

    def __init__(self, device):
        self.device = device
        with device:
            self.begin, self.end = cuda.Event(), cuda.Event()

    def record(self, event):
        with self.device:
            event.record()


def _devices(ids):
    if ids is None:
        current = default_device()
        return () if current.name == "cpu" else (current.id,)
    return tuple(ids)


def benchmark(
    func,
    args: tuple = (),
    kwargs: dict = {},  # noqa: B006  CuPy's signature; it is only read
    n_repeat: int = 10000,
    *,
    name: str | None = None,
    n_warmup: int = 10,
    max_duration: float = math.inf,
    devices: tuple[int, ...] | None = None,
) -> PerfCaseResult:
    """Times func(*args, **kwargs), up to n_repeat runs or max_duration seconds, after n_warmup runs.

    devices: numbers of the GPUs to time; the default device where that is a GPU, and none on the CPU.

    >>> print(iruka.profiler.benchmark(iruka.sqrt, (iruka.ones(1000),), name="sqrt", n_repeat=100))
    sqrt : CPU: ...
    """
    for what, count in (("n_repeat", n_repeat), ("n_warmup", n_warmup)):
        if count < (what == "n_repeat"):
            raise ValueError(f"benchmark: {what} must be at least {int(what == 'n_repeat')}, not {count}")
    ids = _devices(devices)
    pairs = [_Events(Device(id)) for id in ids]
    for _ in range(n_warmup):
        func(*args, **kwargs)
    for pair in pairs:
        pair.record(pair.begin)
        pair.begin.synchronize()
    times: list[list[float]] = [[] for _ in range(1 + len(pairs))]
    duration = 0.0
    for _ in range(n_repeat):
        for pair in pairs:
            pair.record(pair.begin)
        start = time.perf_counter()
        func(*args, **kwargs)
        times[0].append(time.perf_counter() - start)
        for pair in pairs:
            pair.record(pair.end)
        for pair, seconds in zip(pairs, times[1:]):
            pair.end.synchronize()
            seconds.append(cuda.get_elapsed_time(pair.begin, pair.end) * 1e-3)
        duration += time.perf_counter() - start
        if duration > max_duration:
            break
    return PerfCaseResult(
        name or str(getattr(func, "__name__", repr(func))), numpy.asarray(times, dtype="float64"), ids
    )


__dir__ = _dir_of(globals())
