"""The command line: `python -m iruka` and the script `iruka`. Without a command it lists them."""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit status: 0, or 1 with a message on standard error. Wrong usage raises
    SystemExit(2)."""
    parser = argparse.ArgumentParser(prog="iruka", description="Arrays and pictures on CPU and GPU.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_match(commands)
    given = parser.parse_args(arguments)
    if not hasattr(given, "run"):
        parser.print_help()
        return 0
    try:
        given.run(given)
    except KeyboardInterrupt:
        print(f"{parser.prog} {given.name}: interrupted", file=sys.stderr)
        return 1
    except (OSError, ValueError, TypeError, RuntimeError, MemoryError) as error:
        print(f"{parser.prog} {given.name}: {error}", file=sys.stderr)
        return 1
    return 0


def _add_match(commands) -> None:
    command = commands.add_parser(
        "match",
        help="rebuild picture A from the patches of picture B",
        description="For each pixel of picture A finds the pixel of picture B whose surrounding patch is nearest, and "
        "writes A rebuilt from patches of B, and a picture of the field: red and green are the columns and rows of B.",
    )
    command.set_defaults(run=_match, name="match")
    command.add_argument("A", help="the picture to rebuild")
    command.add_argument("B", help="the picture whose patches are used")
    command.add_argument("-o", "--output", metavar="OUT", required=True, help="where the rebuilt picture goes")
    command.add_argument("--field", metavar="PATH", help="where the picture of the field goes (default: OUT-field.png)")
    command.add_argument("--patch", type=int, default=3, metavar="N", help="side of a patch in pixels (default: 3)")
    command.add_argument("--method", choices=["exact", "patchmatch"], default="exact", help="default: exact")
    command.add_argument("--iterations", type=int, default=5, metavar="N", help="of patchmatch (default: 5)")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="of patchmatch (default: 0)")
    command.add_argument("--window", type=int, metavar="N", help="largest displacement of a neighbour in pixels")
    command.add_argument(
        "--border", choices=["edge", "reflect", "symmetric", "constant", "wrap"], default="edge", help="default: edge"
    )
    command.add_argument("--gray", action="store_true", help="match grey pictures")
    command.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def _match(given: argparse.Namespace) -> None:
    from . import image

    mode = "gray" if given.gray else "rgb"
    a, b = image.imread(given.A, mode=mode), image.imread(given.B, mode=mode)
    found = image.nnf(
        a,
        b,
        given.patch,
        given.method,
        window=given.window,
        border=given.border,
        seed=given.seed,
        iterations=given.iterations,
        progress=None if given.quiet or not sys.stderr.isatty() else _show_progress,
    )
    output = pathlib.Path(given.output)
    image.imwrite(output, image.reconstruct(found.field, b, given.patch, given.border))
    field = pathlib.Path(given.field) if given.field else output.with_name(output.stem + "-field.png")
    image.imwrite(field, _picture_of(found.field, b.shape))
    if not given.quiet:
        print(f"mean distance: {_mean(found.distances):.6g}")


def _show_progress(done: int, count: int) -> None:
    print(f"\r{100 * done // count:3d} %", end="\n" if done == count else "", file=sys.stderr, flush=True)


def _mean(distances) -> float:
    """Over the pixels that have a neighbour; nan where none has."""
    import numpy as np

    from . import asnumpy

    values = asnumpy(distances)
    found = values[values < np.iinfo(np.int64).max]
    return float(found.mean()) if found.size else float("nan")


def _picture_of(field, shape: tuple[int, ...]):
    """uint8 (height, width, 3): the column in red, the row in green; blue where there is no neighbour."""
    import numpy as np

    from . import asarray, asnumpy

    places = asnumpy(field)
    picture = np.zeros((*places.shape[:2], 3), np.uint8)
    for channel, (axis, size) in enumerate([(1, shape[1]), (0, shape[0])]):
        picture[..., channel] = np.maximum(places[..., axis], 0) * 255 // max(1, size - 1)
    picture[places[..., 0] < 0] = (0, 0, 255)
    return asarray(picture)


if __name__ == "__main__":
    sys.exit(main())
