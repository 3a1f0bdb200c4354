"""Rows of the results, tables and the summary."""

from measure import markdown

from .measuring import medians


def rows_of(computation, found, times, firsts, threads):
    """One row for each way, in the order of the file."""
    ways, scalars, natives = (medians(times, kind) for kind in ("way", "scalar", "intrinsics"))
    fastest = min(ways.values(), default=None)
    rows = []
    for way in computation.ways:
        row = {"computation": computation.name, "way": way.name, "note": way.note, "intrinsics": natives}
        if way.name in found.problems:
            rows.append({**row, "problem": found.problems[way.name]})
            continue
        seconds = ways[way.name]
        row |= {"seconds": seconds, "over_fastest": seconds / fastest, "all_seconds": times["way", way.name]}
        if threads in natives:
            row["over_intrinsics"] = seconds / natives[threads]
        if way.name in scalars:
            row |= {"scalar": scalars[way.name], "over_scalar": seconds / scalars[way.name]}
        if firsts.get(way.name):
            row |= {"first": firsts[way.name], "first_over_later": firsts[way.name] / seconds}
        rows.append(row)
    return rows


def number(row, key, scale=1.0, digits=2):
    return f"{row[key] * scale:.{digits}f}" if key in row else ""


def table(rows):
    """The ways of one computation."""
    cells = []
    for row in rows:
        if "problem" in row:
            cells.append([row["way"], row["problem"].replace("\n", " ")[:160], "", "", "", "", "", "", ""])
            continue
        cells.append(
            [
                row["way"],
                number(row, "seconds", 1e3),
                number(row, "over_fastest"),
                number(row, "over_intrinsics"),
                number(row, "scalar", 1e3),
                number(row, "over_scalar"),
                number(row, "first", 1e3, 1),
                number(row, "first_over_later", digits=1),
                row["note"],
            ]
        )
    header = [
        "way",
        "ms",
        "/ fastest",
        "/ intrinsics",
        "scalar ms",
        "/ scalar",
        "first ms",
        "first / later",
        "computes more",
    ]
    natives = rows[0]["intrinsics"] if rows else {}
    notes = [f"intrinsics, threads {count}: {seconds * 1e3:.2f} ms" for count, seconds in natives.items()]
    return "\n".join([markdown(cells, header), *notes])


def summary(rows):
    """Spreads, the fastest way over the intrinsics, and ways that are slower than their scalar path or fail."""
    cells, slower, failed = [], [], []
    for name in dict.fromkeys(row["computation"] for row in rows):
        own = [row for row in rows if row["computation"] == name]
        good = [row for row in own if "seconds" in row]
        failed += [f"{name}, {row['way']}" for row in own if "problem" in row]
        slower += [
            f"{name}, {row['way']} ({row['over_scalar']:.2f})" for row in good if row.get("over_scalar", 0) > 1.05
        ]
        if not good:
            continue
        best, worst = (choose(good, key=lambda row: row["seconds"]) for choose in (min, max))
        alike = [row["over_fastest"] for row in good if not row["note"]]
        firsts = [row["first_over_later"] for row in good if "first_over_later" in row]
        cells.append(
            [
                name,
                f"{len(good)} of {len(own)}",
                number(best, "seconds", 1e3),
                number(worst, "over_fastest"),
                f"{max(alike) / min(alike):.2f}",
                number(best, "over_intrinsics"),
                f"{max(firsts):.1f}" if firsts else "",
                best["way"],
                worst["way"],
            ]
        )
    header = ["computation", "ways", "fastest ms", "spread", "of those that compute the same", "fastest / intrinsics",
              "most first / later", "fastest", "slowest"]  # fmt: skip
    return "\n".join(
        [
            markdown(cells, header),
            f"slower than the scalar path by more than 5 %: {', '.join(slower) or 'none'}",
            f"does not compile or is wrong: {', '.join(failed) or 'none'}",
        ]
    )
