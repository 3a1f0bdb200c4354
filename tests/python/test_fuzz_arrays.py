"""The fuzzer of the array functions: it covers all names, a seed repeats a run, and it finds planted faults."""

import pathlib
import re
import textwrap

import pytest

import helpers

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "arrays"

pytestmark = pytest.mark.cpu_only


def run_python(program):
    return helpers.run_python(textwrap.dedent(program))


def fuzz(*arguments, planted=""):
    """Runs the fuzzer, with a fault in Iruka that a statement plants."""
    return run_python(f"""
        import runpy, sys
        import iruka
        {planted}
        sys.argv = ['arrays', *{list(map(str, arguments))!r}]
        runpy.run_path({str(FOLDER)!r}, run_name='__main__')""")


def test_every_public_name_has_a_row_or_a_reason():
    done = fuzz("--coverage")
    assert done.returncode == 0 and not done.stdout.strip(), done.stdout + done.stderr


def test_known_differences_are_the_rows_of_the_documentation(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import known

    text = (FOLDER.parents[2] / "docs" / "arrays.md").read_text()
    section = text.split("### Differences that random tests find\n")[1].split("\n#")[0]
    documented = [line.strip("| ").split(" | ")[1] for line in section.splitlines() if line.startswith("| ")][2:]
    reasons = {why for *_, why in known.rows() if not known.is_fault(why)}
    assert len(documented) == len(set(documented)) and set(documented) == reasons


def test_known_differences_name_functions(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import known

    anywhere = [why for names, _, texts, why in known.rows() if names.pattern == ".*" or not texts.pattern]
    assert anywhere == [
        "if a call has two errors, Iruka may report the other one",
        "a GPU does not accept memory with unaligned elements",
    ]


def test_a_case_is_the_same_every_time():
    program = f"""
        import sys; sys.path.insert(0, {str(FOLDER)!r})
        import cases, table
        print([cases.source(table.case_of(name, 7)) for name in table.ROWS])"""
    first, second = run_python(program), run_python(program)
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout and len(first.stdout) > 100_000


def test_the_program_of_a_case_runs():
    made = run_python(f"""
        import sys; sys.path.insert(0, {str(FOLDER)!r})
        import cases, table
        for name in ("sort", "pad", "getitem", "add", "linalg.inv", "take"):
            for number in range(12):
                text = cases.source(table.case_of(name, number), folder={str(FOLDER)!r})
                print(text.replace("    print(", "    (lambda call: call)(lambda: "))""")
    assert made.returncode == 0, made.stderr
    done = run_python(made.stdout)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "kind, planted",
    [
        ("value", "real = iruka.flip; iruka.flip = lambda *a, **k: real(*a, **k).copy().__iadd__(1)"),
        ("dtype", "real = iruka.flip; iruka.flip = lambda *a, **k: real(*a, **k).astype('complex64')"),
        ("shape", "real = iruka.flip; iruka.flip = lambda *a, **k: real(*a, **k)[None]"),
        ("memory", "real = iruka.flip; iruka.flip = lambda x, *a, **k: (real(x, *a, **k).copy(), x.fill(1))[0]"),
        ("crash", "iruka.flip = lambda *a, **k: __import__('os').abort()"),
        ("hang", "iruka.flip = lambda *a, **k: __import__('time').sleep(30)"),
        ("refused", "iruka.flip = lambda *a, **k: [][1]"),
        ("warning", "real = iruka.flip; iruka.flip = lambda *a, **k: (real(*a, **k), iruka.ones(3) / 0)[0]"),
        ("accepted", "iruka.flip = lambda *a, **k: iruka.zeros(3)"),
    ],
)
def test_planted_faults_are_found(kind, planted):
    done = fuzz("--only", "flip", "--seed", 3, "--count", 150, "--seconds", 8 if kind == "hang" else 60, "--timeout",
        1 if kind == "hang" else 60,
                planted=planted)  # fmt: skip
    last = done.stdout.strip().splitlines()[-1]
    assert re.search(rf"\b[1-9]\d* {kind}\b", last), done.stdout[-2000:] + done.stderr[-2000:]
    assert done.returncode == (0 if kind in ("refused", "warning") else 1)
    assert f"{kind.upper()} flip:" in done.stdout and "xp.flip(" in done.stdout
    identity = re.search(rf"{kind.upper()} (flip:\d+)", done.stdout).group(1)
    if kind == "value":
        again = fuzz("--case", identity, planted=planted)
        assert again.returncode == 1 and "value: " in again.stdout
        assert fuzz("--case", identity).returncode == 0


def test_a_function_without_faults_passes():
    done = fuzz("--only", "flip,moveaxis,swapaxes", "--seed", 3, "--count", 300, "--seconds", 100)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert re.fullmatch(
        r"seed 3: 300 cases in \d+ s: no finding; \d+ documented, \d+ of known faults",
        done.stdout.strip().splitlines()[-1],
    )
