"""What goes wrong on a GPU, and how it ends, over the driver in software."""

import pytest

from fake_driver import needs_fake_driver, run

pytestmark = needs_fake_driver

HOST_FUNCTIONS = """
streams = [iruka.cuda.Stream(non_blocking=True) for _ in range(4)]
def work(arg):
    for k in range(2000):
        arg.append(k)
def slow(arg):
    time.sleep(0.005)
def again(stream):
    work([])
    stream.launch_host_func(again, stream)
def launch_always():
    while True:
        for stream in streams:
            stream.launch_host_func(work, [])
"""


@pytest.mark.parametrize(
    "ending",
    [
        "for s in streams: hold(s), s.launch_host_func(work, [])",
        "for s in streams: s.launch_host_func(slow, 0), s.launch_host_func(slow, 0)",
        "for s in streams: s.launch_host_func(again, s)",
        "threading.Thread(target=launch_always, daemon=True).start(); time.sleep(0.01)",
    ],
)
def test_processes_end_whatever_functions_are_to_come(ending):
    run(HOST_FUNCTIONS + ending)
