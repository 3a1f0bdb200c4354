"""Streams, events and graphs."""

from __future__ import annotations

import threading

from .. import _core
from .._core import Device
from ..errors import TypeError, ValueError

_PER_THREAD = 2  # the driver's own number of each thread's default stream


class _Used(threading.local):
    """The stream objects that this thread uses, by device, and those that its `with` statements restore."""

    def __init__(self):
        self.streams = {}
        self.earlier = []


_used = _Used()


def current_gpu() -> Device:
    """The default device where that is a GPU, else the first GPU. Raises DeviceError that says what is missing."""
    device = _core.default_device()
    return Device(0) if device.name == "cpu" else device


def _has_no_gpu() -> bool:
    return _core.default_device().name == "cpu" and not _core.cuda_is_available()


def _stream_device() -> Device:
    """Where the default streams are: the current GPU; without one the CPU, whose work is done when a call returns."""
    return _core.default_device() if _has_no_gpu() else current_gpu()


class _BaseStream:
    """The methods of Iruka's streams and of other libraries' streams."""

    def __init__(self, ptr: int, device: Device | None):
        self.ptr = ptr
        self._bound = device  # None: the default streams, which every device has

    @property
    def _device(self) -> Device:
        return _stream_device() if self._bound is None else self._bound

    @property
    def _gpu(self) -> Device:
        """The stream's device, for what only GPUs have."""
        return current_gpu() if self._bound is None else self._bound

    @property
    def _is_on_cpu(self) -> bool:
        return self._bound is None and _has_no_gpu()

    @property
    def device_id(self) -> int:
        """Number of the stream's GPU; -1 for the default streams, which each GPU has."""
        return -1 if self._bound is None else self._bound.id

    def __cuda_stream__(self):
        return 0, self.ptr

    def __eq__(self, other):
        return isinstance(other, _BaseStream) and other.ptr == self.ptr

    def __hash__(self):
        return hash(self.ptr)

    def __repr__(self):
        return f"<{type(self).__name__} {self.ptr} (device {self.device_id})>"

    def use(self) -> _BaseStream:
        """Arrays and kernels of the calling thread use this stream from here on."""
        device = self._device
        _core.cuda_set_current_stream(device, self.ptr)
        _used.streams[device.id] = self
        return self

    def __enter__(self):
        device = self._device
        handle = _core.cuda_set_current_stream(device, self.ptr)
        _used.earlier.append((device, handle, _used.streams.get(device.id), self.is_capturing()))
        _used.streams[device.id] = self
        return self

    def __exit__(self, kind, value, traceback):
        device, handle, stream, was_capturing = _used.earlier.pop()
        if kind is not None and not was_capturing:  # no one else ends a capture that began inside
            _core.cuda_cancel_capture(self._device, self.ptr)
        _core.cuda_set_current_stream(device, handle)
        if stream is None:
            _used.streams.pop(device.id, None)
        else:
            _used.streams[device.id] = stream

    @property
    def is_non_blocking(self) -> bool:
        """Whether the stream neither waits for the legacy default stream nor is waited for by it."""
        return not self._is_on_cpu and _core.cuda_is_non_blocking(self._device, self.ptr)

    @property
    def done(self) -> bool:
        """Whether all work of the stream is done."""
        return _core.cuda_is_done(self._device, self.ptr)

    def synchronize(self) -> None:
        """Waits until all work of the stream is done. Ctrl-C ends the wait."""
        _core.cuda_synchronize(self._device, self.ptr)

    def record(self, event: Event | None = None) -> Event:
        """Puts an event, by default a new one, behind the work that is now in the stream; returns it."""
        if event is None:
            event = Event._on(self._device)
        _core.cuda_record_event(self._device, event.ptr, self.ptr)
        return event

    def wait_event(self, event: Event) -> None:
        """The stream's later work waits for the event."""
        _core.cuda_wait_event(self._device, self.ptr, event.ptr)

    def launch_host_func(self, callback, arg) -> None:
        """Calls callback(arg) once the work that is now in the stream is done; later work waits for it to return.

        It runs on a thread of the driver and must not use a GPU. What it raises goes to sys.unraisablehook. It is not
        called after an error of the GPU. Raises DeviceError while the stream is being captured.
        """
        _core.cuda_launch_host_function(self._gpu, self.ptr, callback, (arg,))

    def add_callback(self, callback, arg) -> None:
        """launch_host_func() for a callback(stream, status, arg), as older programs have it; status is 0."""
        _core.cuda_launch_host_function(self._gpu, self.ptr, callback, (self, 0, arg))

    def begin_capture(self, mode: int | None = None) -> None:
        """From here on the stream's work is noted down, not done. The default streams cannot be captured.

        An error that leaves the stream's `with` statement ends the capture, as the end of the stream does.
        Of CUDA's modes there is the thread's own, runtime.streamCaptureModeThreadLocal.
        """
        if mode not in (None, 1):
            raise ValueError(f"begin_capture: mode must be None or streamCaptureModeThreadLocal (1), not {mode!r}")
        _core.cuda_begin_capture(self._gpu, self.ptr)

    def end_capture(self) -> Graph:
        """What was noted down, ready to be launched."""
        return Graph._made(self._gpu, _core.cuda_end_capture(self._gpu, self.ptr))

    def is_capturing(self) -> bool:
        """Whether the stream's work is being noted down."""
        return not self._is_on_cpu and _core.cuda_is_capturing(self._device, self.ptr)


class Stream(_BaseStream):
    """A queue of work on the current GPU.

    null: the legacy default stream. ptds: the calling thread's default stream. non_blocking: does not wait for the
    legacy default stream. priority: lower numbers go first. Without a GPU the default streams are the CPU's, whose work
    is done when a call returns, and a new stream raises DeviceError.
    """

    null: Stream
    ptds: Stream

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int | None = None):
        if null and ptds:
            raise ValueError("Stream: null and ptds exclude each other")
        if null or ptds:
            super().__init__(0 if null else _PER_THREAD, None)
            return
        device = current_gpu()
        self._owner = _core.CudaStream(device, bool(non_blocking), priority or 0)
        super().__init__(self._owner.ptr, device)


class ExternalStream(_BaseStream):
    """A stream that another library made and keeps alive, by its address."""

    def __init__(self, ptr: int, device_id: int = -1):
        if not isinstance(ptr, int):
            raise TypeError(f"ExternalStream: ptr must be an int, not {type(ptr)!r}")
        super().__init__(ptr, current_gpu() if device_id < 0 else Device(device_id))


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


def get_current_stream(device_id: int | None = None) -> _BaseStream:
    """The stream that the calling thread's arrays and kernels use, of the current GPU or of another.

    Without a GPU, the legacy default stream.
    """
    return _current_stream(_stream_device() if device_id is None else Device(device_id))


def _current_stream(device: Device) -> _BaseStream:
    handle = _core.cuda_current_stream(device)
    used = _used.streams.get(device.id)
    if used is not None and used.ptr == handle:
        return used
    if handle <= _PER_THREAD:
        return Stream.ptds if handle == _PER_THREAD else Stream.null
    return ExternalStream(handle, device.id)


class Event:
    """A place in a stream's work that can be waited for.

    block: threads that wait sleep. disable_timing: cheaper, but get_elapsed_time() cannot be asked. Without a GPU an
    event records the time at which it is recorded, because earlier work is done.
    """

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False):
        if interprocess:
            raise ValueError("Event: events are not shared between processes (interprocess)")
        self._make(_stream_device(), not disable_timing, bool(block))

    @classmethod
    def _on(cls, device):
        event = cls.__new__(cls)
        event._make(device, True, False)
        return event

    def _make(self, device, timing, block):
        self._owner = _core.CudaEvent(device, timing, block)
        self.ptr = self._owner.ptr
        self._device = device

    @property
    def done(self) -> bool:
        """Whether the work before the event is done."""
        return _core.cuda_is_event_done(self._device, self.ptr)

    def record(self, stream: _BaseStream | None = None) -> None:
        """Puts the event behind the work that is now in a stream, by default the current one."""
        stream = _current_stream(self._device) if stream is None else stream
        _core.cuda_record_event(self._device, self.ptr, stream.ptr)

    def synchronize(self) -> None:
        """Waits for the work before the event. Ctrl-C ends the wait."""
        _core.cuda_synchronize_event(self._device, self.ptr)


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds from one event to another. Raises DeviceError unless both are recorded and reached."""
    return _core.cuda_elapsed_milliseconds(end_event._device, start_event.ptr, end_event.ptr)


class Graph:
    """Captured work, which can be launched again and again; Stream.end_capture() makes one."""

    _device: Device
    _owner: _core.CudaGraph
    graphExec: int

    def __init__(self):
        raise TypeError("Graph: a graph is made by Stream.end_capture()")

    @classmethod
    def _made(cls, device, owner):
        graph = cls.__new__(cls)
        graph._device, graph._owner, graph.graphExec = device, owner, owner.ptr
        return graph

    def launch(self, stream: _BaseStream | None = None) -> None:
        """Does the captured work in a stream, by default the current one."""
        stream = _current_stream(self._device) if stream is None else stream
        self._owner.launch(stream.ptr)

    def upload(self, stream: _BaseStream | None = None) -> None:
        """Does nothing: a graph is on the GPU by its first launch."""
