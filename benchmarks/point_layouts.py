"""A network of points over arrays of every layout, in one run.

python benchmarks/point_layouts.py [--threads N] [--rounds N] [--output build/benchmarks]
8-32-4 at 360 000 points, float32 on the CPU, features along the named axis. The ratio is the median time for a point
over that of the first row, where each feature is a dense array.
"""

import argparse
import json
import os
import pathlib
import time

import numpy as np

import iruka
from iruka import nn
from measure import interleaved, markdown, processor


def layouts():
    """Arrays and the axis of their features, by names."""

    def array(*shape):
        return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)

    first = array(8, 60, 60, 100)
    return {
        "features first": (first, 0),
        "features last": (array(60, 60, 100, 8), -1),
        "features between": (array(60, 60, 8, 100), 2),
        "Fortran order": (np.asfortranarray(first), 0),
        "two axes exchanged": (first.transpose(0, 3, 2, 1), 0),
        "crop of all axes": (first[:, 5:-5, 5:-5, 5:-5], 0),
        "crop of columns": (first[..., 5:-5], 0),
        "crop of rows of 5": (array(8, 90000, 5)[..., :4], 0),
        "every second point": (first[..., ::2], 0),
        "backwards": (first[..., ::-1], 0),
        "features last, with gaps": (array(60, 60, 100, 11)[..., :8], -1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    options = parser.parse_args()
    iruka.set_num_threads(options.threads)
    network = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4)).to("cpu")
    cases = {name: (iruka.asarray(x).to_device("cpu"), axis) for name, (x, axis) in layouts().items()}
    for x, axis in cases.values():
        network.map(x, axis)
        iruka.finish_background_compilation()
    calls = {name: lambda case=case: network.map(*case) for name, case in cases.items()}
    seconds = interleaved(calls, options.rounds)
    per_point = {name: each / (cases[name][0].size / 8) * 1e9 for name, each in seconds.items()}
    rows = [
        [name, f"{seconds[name] * 1e3:.2f}", f"{each:.1f}", f"{each / per_point['features first']:.2f}"]
        for name, each in per_point.items()
    ]
    print(f"{options.threads} threads of {processor()}, {time.strftime('%Y-%m-%d')}\n")
    print(markdown(rows, ["layout", "ms", "ns a point", "ratio"]))
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "point_layouts.json").write_text(json.dumps(seconds, indent=1))


if __name__ == "__main__":
    main()
