"""Runs cases one after another and tells the parent what it finds; the parent outlives it."""

import dataclasses
import json
import os
import resource
import time
import traceback
import warnings

import numpy as np

import cases
import compare
import iruka
import known
import saturated
import table

UFUNC_CALLS = {f"xp.{name}" for name, thing in vars(np).items() if isinstance(thing, np.ufunc)}
GROUPS = (
    MemoryError,
    IndexError,
    KeyError,
    AttributeError,
    OverflowError,
    ZeroDivisionError,
    TypeError,
    ValueError,
    RuntimeError,
)


progress = [0] * 6  # what the parent reads when a case crashes or hangs: the parent's shared memory in a child
INDEX, SINCE, PATIENT, NEXT, DONE, IN_NUMPY = range(6)


def outcome(case, xp, told=None):
    """('value', result, run) or ('error', exception, run); `told` takes the floating-point errors that are told of."""
    run = cases.Run(xp)
    progress[IN_NUMPY] = xp is np
    way = "ignore" if told is None else "call"
    try:
        with np.errstate(divide=way, over=way, invalid=way, call=lambda words, flags: told.add(words)):
            return "value", run.call(case), run
    except Exception as error:  # whatever a library raises is an answer
        return "error", error, run


def compatible(ours, theirs):
    """Whether a NumPy user's `except` catches Iruka's error as well."""
    if isinstance(ours, type(theirs)):
        return True
    wanted = [group for group in GROUPS if isinstance(theirs, group)]
    return not wanted or any(isinstance(ours, group) for group in wanted)


def examine(case):
    """None, or (kind, words) of one case."""
    their_errors, our_errors = set(), set()
    their_way, theirs, their_run = outcome(case, np, their_errors)
    our_way, ours, our_run = outcome(case, iruka, our_errors)
    if our_way == "error" and their_way == "error":
        if compatible(ours, theirs):
            return None
        return "error", f"{type(ours).__name__}: {ours!s:.150} where NumPy has {type(theirs).__name__}: {theirs!s:.150}"
    if our_way == "error":
        return "refused", f"{type(ours).__name__}: {ours!s:.300}"
    if their_way == "error":
        return "accepted", f"{type(theirs).__name__}: {theirs!s:.300} (NumPy)"
    found = judged(case, ours, theirs, our_run, their_run)
    if found and found[0] in ("value", "memory"):
        agree = (
            judged(case, ours, result, our_run, run) is None
            for result, run in saturated.references(case, theirs, their_run)
        )
        if any(agree) or saturated.holds_rounded(case, our_run) or saturated.at_rounded(case, our_run):
            found = None
    return found or warning_difference(our_errors, their_errors)


def warning_difference(ours, theirs):
    """What the error state tells of in one library alone: a GPU tells of nothing."""
    if ours == theirs or cases.on_gpu():
        return None
    return (
        "warning",
        f"{' and '.join(sorted(ours)) or 'nothing'} where NumPy tells of {' and '.join(sorted(theirs)) or 'nothing'}",
    )


def judged(case, ours, theirs, our_run, their_run):
    """None, or (kind, words) of one case that both libraries answer."""
    if case.undefined is not None:
        case = dataclasses.replace(case, undefined=their_run.value(case.undefined))
    if case.rule.check:
        words = case.rule.check(case, ours, theirs)
        return ("value", words) if words else None
    found = compare.difference(case, ours, theirs)
    if found and found[0] == "value" and case.rule.reference:
        loop = dataclasses.replace(case, rule=rule_of_loop(case)) if case.kwargs.get("out") is not None else case
        found = compare.difference(loop, ours, theirs, compare.long_call(case), compare.scale_of(case))
    if found:
        return found
    if case.rule.memory and not case.rule.shape_only:
        return memory_difference(case, our_run, their_run)
    return None


def memory_difference(case, our_run, their_run):
    """What the call wrote, or must not have written: by the rule where it writes results, else to the bit."""
    written = case.kwargs.get("out")
    if written is not None:
        found = written_difference(case, our_run, their_run)
        if found:
            return found
    arrays = {id(array.base): array for array in cases.arrays_of(case)}
    outs = [node for node in cases.walk(written) if isinstance(node, cases.Array)]
    is_complex = any(np.dtype(array.dtype).kind == "c" for array in arrays.values()) or any(
        isinstance(node, complex) for node in cases.walk([case.args, case.kwargs]))  # fmt: skip
    exact = dataclasses.replace(case, rule=compare.Rule(signed=case.rule.signed), undefined=None)
    for key, memory in their_run.memory.items():
        ours = our_run.memory.get(key)
        found = None if ours is None else compare.difference(exact, ours, memory, path="memory")
        if not found:
            continue
        rule = case.rule.of(np.dtype(arrays[key].dtype), is_complex)
        is_bytes = ":" in arrays[key].base.kind
        if not (rule.ulps or rule.reference or is_bytes and not rule.signed):
            return "memory", found[1]
        ours, memory, reference, scale = compare.host(ours), np.asarray(memory), None, None
        if any(id(out.base) == key for out in outs):
            ours, memory = (rest(node, outs, key) for node in (ours, memory))
            rule = compare.Rule(signed=case.rule.signed)
        elif is_bytes:
            ours, memory = (seen(arrays[key], node) for node in (ours, memory))
        else:
            reference, scale = compare.memory_references(case, key)
        found = compare.difference(dataclasses.replace(exact, rule=rule), ours, memory, reference, scale, path="memory")
        if found:
            return "memory", found[1]
    return None


def seen(array, memory):
    """The elements of NumPy's memory that an array is a view of."""
    return eval(array.view, dict(cases.NAMES, xp=np, readonly=lambda x: x), {"x": memory})


def rest(memory, outs, key):
    """NumPy's memory without what outputs lie over."""
    covered = np.zeros(memory.shape, memory.dtype)
    for out in outs:
        if id(out.base) == key:
            view = seen(out, covered)
            view[...] = np.full(view.dtype.itemsize, 255, "u1").view(view.dtype)[0]
    return memory[covered == 0]


def written_difference(case, our_run, their_run):
    """Compares `out` by the rule: NumPy's reference lies beside it."""
    ours, theirs = our_run.value(case.kwargs["out"]), their_run.value(case.kwargs["out"])
    mask = their_run.value(case.kwargs["where"]) if "where" in case.kwargs else None
    case = dataclasses.replace(case, undefined=mask if case.target in UFUNC_CALLS else None)
    if case.undefined is not None:
        kept = dataclasses.replace(case, rule=compare.EXACT, undefined=np.logical_not(mask))
        found = compare.difference(kept, ours, theirs)
        if found:
            return found
    found = compare.difference(case, ours, theirs)
    if found and found[0] == "value" and case.rule.reference:
        long, scale = compare.long_call(case), compare.scale_of(case)
        if isinstance(theirs, tuple) and not isinstance(long, tuple):
            long, scale = (long,), (scale,)
        found = compare.difference(dataclasses.replace(case, rule=rule_of_loop(case)), ours, theirs, long, scale)
    return found


def rule_of_loop(case):
    """The rule in units of the dtype that the call works in, where `out` has a finer one."""
    kwargs = {key: value for key, value in case.kwargs.items() if key not in ("out", "where")}
    way, result, _ = outcome(dataclasses.replace(case, kwargs=kwargs), np)
    finest = cases.Run(np).value(case.kwargs["out"])
    pair = [x[0] if isinstance(x, tuple) else x for x in (result, finest)]
    if way == "error" or not all(np.asarray(x).dtype.kind in "fc" for x in pair):
        return case.rule
    ratio = np.finfo(pair[0].dtype).eps / np.finfo(pair[1].dtype).eps
    return dataclasses.replace(
        case.rule, ulps=case.rule.ulps * max(1, ratio), complex_ulps=case.rule.complex_ulps * max(1, ratio)
    )


def shrunk(case, kind, rounds=40):
    """A simpler case with a finding of the same kind."""
    limit = time.monotonic() + 5
    simplified = True
    while simplified and rounds > 0:
        simplified = False
        for candidate in cases.simpler(case):
            rounds -= 1
            if time.monotonic() > limit or rounds <= 0:
                break
            try:
                found = examine(candidate)
            except Exception:
                continue
            if found and found[0] == kind:
                case, simplified = candidate, True
                break
    return case


def run(identities, tell, shared, shrink=True, memory_limit=12 << 30):
    """Examines cases until the iterator ends; `shared` says how far it is."""
    global progress
    progress = shared
    if "IRUKA_TEST_PATIENCE" not in os.environ:  # sanitizers, under which that is set, take terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    seen = {}
    for index, (name, number) in identities:
        progress[INDEX], progress[SINCE], progress[DONE] = index, int(time.time()), progress[DONE] + 1
        try:
            case = table.case_of(name, number)
            found = examine(case)
        except MemoryError:
            continue
        except Exception:
            found = "internal", traceback.format_exc(limit=-4)
            case = None
        if not found:
            continue
        kind, words = found
        key = (name, kind)
        seen[key] = seen.get(key, 0) + 1
        reason = known.reason(name, kind, words, case)
        if case is None or reason or seen[key] > 3:
            program = ""
        else:
            progress[PATIENT] = 1  # makes the parent patient
            case = shrunk(case, kind) if shrink else case
            again = examine(case)
            words = again[1] if again else words + " (not at a second try)"
            reason = known.reason(name, kind, words, case)  # the small case may show what the first one hid
            program = cases.source(case, f"{name}:{number}")
            progress[PATIENT] = 0
        tell(
            json.dumps(
                {
                    "index": index,
                    "case": f"{name}:{number}",
                    "kind": kind,
                    "words": words,
                    "reason": reason or "",
                    "program": program,
                }
            )
        )
    progress[INDEX] = -1
