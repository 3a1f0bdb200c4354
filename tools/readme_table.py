"""Writes the benchmarks' figures into README.md: readme_table.py RESULTS_FOLDER README.md

Everything between the two marker comments is replaced by what `make benchmark` left in the results folder.
"""

import json
import pathlib
import sys

BEGIN, END = "<!-- benchmarks begin -->", "<!-- benchmarks end -->"
TITLES = {
    "add": "`z = x + y`, 2^26 elements, output given",
    "transpose": "8192 x 8192 float32",
    "broadcast": "8192 x 8192 float32",
    "reduce": "2^26 float32",
    "math": "2^24 float32",
}


def ratio(row, peer):
    seconds = row["seconds"]
    return f"{seconds[peer] / seconds['iruka']:.2f}" if peer in seconds else ""


def throughput_table(results):
    peers = ["numpy", "numba", "numexpr", "by hand"]
    lines = [
        "| job | Iruka ms | GB/s | " + " | ".join(f"{peer} / Iruka" for peer in peers) + " |",
        "| --- |" + " --- |" * (2 + len(peers)),
    ]
    for name, title in TITLES.items():
        for row in results.get(name, {}).get("rows", []):
            own = row["seconds"]["iruka"]
            cells = [f"{row['case']} ({title})", f"{own * 1e3:.1f}", f"{row['bytes'] / own / 1e9:.1f}"]
            lines.append("| " + " | ".join(cells + [ratio(row, peer) for peer in peers]) + " |")
    return lines


def latency_table(results):
    lines = ["| what a user waits for | time |", "| --- | --- |"]
    for row in results.get("latency", {}).get("rows", []):
        milliseconds = row["milliseconds"]
        lines.append(
            f"| {row['case']} | "
            + (f"{milliseconds * 1e3:.2f} µs |" if milliseconds < 0.1 else f"{milliseconds:.1f} ms |")
        )
    return lines


def main():
    folder, readme = map(pathlib.Path, sys.argv[1:])
    results = {file.stem: json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))}
    if not results:
        sys.exit(f"no results in {folder}: run `make benchmark` first")
    machine = next(iter(results.values()))["machine"]
    note = (
        f"Medians on {machine['threads']} threads of {machine['processor']}, NumPy {machine['numpy']}. "
        "A ratio above 1 means that Iruka is faster."
    )
    text = readme.read_text()
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    table = "\n".join([note, ""] + throughput_table(results) + [""] + latency_table(results))
    readme.write_text(f"{head}{BEGIN}\n{table}\n{END}{tail}")


if __name__ == "__main__":
    main()
