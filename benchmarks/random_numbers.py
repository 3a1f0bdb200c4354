"""Random arrays beside NumPy's Generator: nanoseconds an element and the ratio, by size.

    PYTHONPATH=build/release/python python benchmarks/random_numbers.py [largest size]
"""

import argparse
import gc

import numpy as np

import iruka
from measure import interleaved, markdown, processor

CASES = [
    ("random", (), {}),
    ("random", (), {"dtype": "float32"}),
    ("standard_normal", (), {}),
    ("standard_normal", (), {"dtype": "float32"}),
    ("normal", (1.0, 2.0), {}),
    ("integers", (0, 1000), {}),
    ("integers", (0, 100), {"dtype": "int8"}),
    ("integers", (-(2**60), 2**62), {}),
    ("exponential", (), {}),
    ("gamma", (2.0,), {}),
    ("gamma", (0.5,), {}),
    ("beta", (2.0, 3.0), {}),
    ("poisson", (3.0,), {}),
    ("poisson", (100.0,), {}),
    ("binomial", (100, 0.3), {}),
    ("geometric", (0.1,), {}),
    ("lognormal", (), {}),
    ("permutation", (), {}),
]


def measured(case, size, peers):
    """Median seconds of Iruka and NumPy."""
    name, parameters, keywords = case

    def call(generator):
        draw = getattr(generator, name)
        if name == "permutation":
            return lambda: draw(size)
        return lambda: draw(*parameters, size=size, **keywords)

    def finished(one):
        def run():
            one()
            iruka.default_device().synchronize() if hasattr(iruka.default_device(), "synchronize") else None

        return run

    candidates = {peer: finished(call(generator)) for peer, generator in peers.items()}
    return interleaved(candidates, repeats=15 if size <= 10**6 else 3, warmup=8 if size <= 10**6 else 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("largest", nargs="?", type=float, default=1e8)
    largest = int(parser.parse_args().largest)
    peers = {"iruka": iruka.random.default_rng(1), "numpy": np.random.default_rng(1)}
    rows = []
    for case in CASES:
        cells = [f"{case[0]}{case[1]} {case[2].get('dtype', '')}"]
        for size in (10**3, 10**6, 10**8):
            if size > largest:
                continue
            seconds = measured(case, size, peers)
            cells.append(f"{seconds['iruka'] / size * 1e9:.2f}")
            cells.append(f"{seconds['numpy'] / seconds['iruka']:.2f}")
            gc.collect()
        rows.append(cells)
        print(cells, flush=True)
    sizes = [f"{size:.0e}" for size in (10**3, 10**6, 10**8) if size <= largest]
    print(processor(), iruka.get_num_threads(), "threads")
    print(markdown(rows, ["draw"] + [cell for size in sizes for cell in (f"ns, {size}", "times NumPy")]))


if __name__ == "__main__":
    main()
