"""Conditions on DataNodes in DALI's names: `if`, `and`, `or`, `not` of each sample, in pipelines that
enable_conditionals. Expected values are Python's own, for each sample alone, and nvidia.dali's where that is installed."""

import importlib.util
import traceback

import numpy as np
import pytest

import iruka
from iruka import fn, image, types
from iruka._pipeline.dali.pipeline import _operations_of
from iruka._pipeline.dali.rewriting import converted
from iruka.pipeline import do_not_convert, pipeline_def

KINDS = [0, 1, 2, 3, 5, 8]
OURS = (pipeline_def, fn, types)


def theirs():
    dali = pytest.importorskip("nvidia.dali")
    return (dali.pipeline_def, importlib.import_module("nvidia.dali.fn"), importlib.import_module("nvidia.dali.types"))


def numbers(dtype=np.int32, values=KINDS):
    return [np.array(value, dtype) for value in values]


def run(define, *columns, side=OURS):
    """The outputs of define(fn, types, *inputs), each a list of samples."""
    define_pipeline, functions, names = side

    @define_pipeline(batch_size=len(columns[0]), num_threads=2, device_id=None, seed=3, enable_conditionals=True)
    def make():
        inputs = functions.external_source(lambda: list(columns), num_outputs=len(columns))
        return define(functions, names, *inputs)

    pipe = make()
    pipe.build()
    return [[np.asarray(each) for each in output] for output in pipe.run()]


# Programs, and what they make of the numbers of a sample.


def several(fn, types, kind, x):
    if kind == 0:
        y = x + 1
    elif kind < 3:
        y = x * 2
        x = x - 1
    else:
        y = -x
    return x, y


def several_of(kind, x):
    return (x, x + 1) if kind == 0 else (x - 1, x * 2) if kind < 3 else (x, -x)


def nested(fn, types, kind, x):
    y = x
    if kind > 0:
        y = x + 10
        if x > 2:
            if kind == 8:
                y = y * 3
            y = y + 1
        else:
            y = y - 100
    return y


def nested_of(kind, x):
    if kind == 0:
        return (x,)
    return ((x + 10) * (3 if kind == 8 else 1) + 1,) if x > 2 else (x - 90,)


def logic(fn, types, kind, x):
    a = kind > 1 and x < 4
    b = kind == 0 or x == 5
    c = not a
    if (a or b) and not (kind == 2):
        y = 7
    else:
        y = 9
    return a, b, c, y


def logic_of(kind, x):
    a, b = kind > 1 and x < 4, kind == 0 or x == 5
    return a, b, not a, 7 if (a or b) and kind != 2 else 9


def helper(x, kind):
    if kind % 2 == 1:
        return x * 10
    return x


def returning(fn, types, kind, x):
    x = x + 1
    if kind == 2:
        return x, x
    if kind == 3:
        y = x * x
    else:
        y = helper(x, kind)
    return y, x


def returning_of(kind, x):
    x += 1
    return (x, x) if kind == 2 else (x * x, x) if kind == 3 else (x * 10 if kind % 2 else x, x)


def leaving(fn, types, kind, x):
    """Branches that return, those that go on, and those that may do either."""
    y = x * 2
    if kind > 1:
        x = x + 10
        if kind == 3:
            return x, y
        elif kind == 5:
            if x > 12:
                return y, x
            y = y + 100
    elif x > 4:
        return y, y
    else:
        x = x + 1
    if x > 12:
        if kind == 8:
            return x, x
        x = x * 3
    return x, y


def leaving_of(kind, x):
    y = x * 2
    if kind == 3 or (kind == 5 and x > 2):
        return (x + 10, y) if kind == 3 else (y, x + 10)
    if kind < 2 and x > 4:
        return y, y
    y += 100 * (kind == 5)
    x += 10 if kind > 1 else 1
    if x > 12 and kind == 8:
        return x, x
    return x * 3 if x > 12 else x, y


def truths(fn, types, kind, x):
    if kind:
        y = 1.5
    else:
        y = 2.5
    scale = 3
    pair = [x, x]
    if x > 2:
        pair = [x + 1, x]
        scale = 3
    return y, pair[0], pair[1] * scale


def truths_of(kind, x):
    return 1.5 if kind else 2.5, x + 1 if x > 2 else x, 3 * x


def plain(fn, types, kind, x):
    steps = []
    for k in range(4):
        if k == 2:
            continue
        if k == 3 and not steps:
            break
        steps.append(k)
    if len(steps) == 3 or fn is None:
        x = x + steps[-1]
    return x


def plain_of(kind, x):
    return (x + 3,)


PROGRAMS = {each.__name__: (each, of) for each, of in (
    (several, several_of), (nested, nested_of), (logic, logic_of), (returning, returning_of), (leaving, leaving_of),
    (truths, truths_of),
    (plain, plain_of))}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_conditions_are_those_of_each_sample(name):
    program, expected = PROGRAMS[name]
    values = [5, 1, 4, 2, 3, 6]
    made = run(program, numbers(), numbers(values=values))
    for k, (kind, x) in enumerate(zip(KINDS, values, strict=True)):
        assert [output[k].item() for output in made] == list(expected(kind, x)), (kind, x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_beside_dali(name):
    program, columns = PROGRAMS[name][0], (numbers(), numbers(values=[5, 1, 4, 2, 3, 6]))
    for ours, other in zip(run(program, *columns), run(program, *columns, side=theirs()), strict=True):
        for a, b in zip(ours, other, strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_array_equal(a, b)


def chain_of(count, folder):
    """A function of so many ifs whose branches may return, from a file."""
    lines = ["def chain(fn, types, kind, x):"]
    for k in range(count):
        lines += [
            f"    if kind > {k // 3}:",
            f"        x = x + {k}",
            f"        if x > {40 + 5 * k}:",
            f"            return x, {k}",
        ]
    (folder / f"chain_{count}.py").write_text("\n".join([*lines, "    return -x, 99", ""]))
    specification = importlib.util.spec_from_file_location(f"chain_{count}", folder / f"chain_{count}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.chain


def code_size(code):
    return len(code.co_code) + sum(code_size(each) for each in code.co_consts if hasattr(each, "co_code"))


def test_many_branches_that_may_return_are_defined_once(tmp_path):
    nodes, sizes = [], []
    for count in (5, 10, 15, 20):
        chain = chain_of(count, tmp_path)
        sizes.append(code_size(converted(chain).__code__))

        @pipeline_def(batch_size=6, num_threads=2, device_id=None, enable_conditionals=True)
        def make():
            kind, x = fn.external_source(lambda: (numbers(), numbers(values=[5, 60, 39, 30, 0, 7])), num_outputs=2)
            return chain(fn, types, kind, x)

        pipe = make()
        nodes.append(len(_operations_of(pipe._output_nodes)))
        made = [[each.item() for each in map(np.asarray, output)] for output in pipe.run()]
        expected = [chain(fn, types, kind, x) for kind, x in zip(KINDS, [5, 60, 39, 30, 0, 7], strict=True)]
        assert list(zip(*made, strict=True)) == expected
    assert len(set(np.diff(nodes))) == 1
    assert np.diff(sizes).max() < 1.3 * np.diff(sizes).min()


G = 0


def test_rest_of_a_function_with_global_variables_stays():
    def change(kind):
        global G
        if kind > 2:
            return 1
        G = kind
        return 2

    assert converted(change)(2) == 2 and G == 2


def changed(fn, types, picture, kind):
    if kind == 1:
        picture = fn.flip(picture, horizontal=1)
    elif kind > 3:
        picture = fn.crop(picture, crop=(8, 9))
        if kind == 8:
            picture = fn.brightness(picture, brightness=0.5)
    else:
        picture = fn.flip(picture, horizontal=0, vertical=1)
    return picture


def pictures():
    y, x, c = np.ogrid[:12, :14, :3]
    return [((y * (3 + k) + x * 5 + 40 * c) % 251).astype(np.uint8) for k in range(len(KINDS))]


def test_pictures_go_through_the_stages_of_their_branch():
    @pipeline_def(batch_size=6, num_threads=2, device_id=None, enable_conditionals=True)
    def make():
        picture, kind = fn.external_source(lambda: (pictures(), numbers()), num_outputs=2, dtype=[types.UINT8, types.INT32],
                                           layout=["HWC", None])  # fmt: skip
        made = changed(fn, types, picture, kind)
        return made, fn.crop_mirror_normalize(made, crop=(4, 4), mean=[1.0, 2.0, 3.0], output_layout="HWC")

    made, normal = make().run()
    for kind, picture, got, other in zip(KINDS, pictures(), made, normal, strict=True):
        want = picture[:, ::-1] if kind == 1 else picture[::-1]
        if kind > 3:
            want = picture[2:10, 3:12] if kind == 5 else iruka.asnumpy(image.brightness(picture[2:10, 3:12], 0.5))
        np.testing.assert_array_equal(got, want)
        top, left = (want.shape[0] - 3) // 2, (want.shape[1] - 3) // 2  # halves are rounded up
        np.testing.assert_allclose(other, want[top : top + 4, left : left + 4] - np.float32([1, 2, 3]), atol=1e-5)


def cut(fn, picture, kind):
    if kind > 1:
        picture = fn.flip(picture, horizontal=1)
        if kind == 3:
            return fn.crop(picture, crop=(5, 4)), "same", [kind, 1]
        elif kind == 8:
            picture = fn.brightness(picture, brightness=0.5)
            if picture.shape()[0] > 3:
                return fn.crop(picture, crop=(4, 4)), "same", [kind, 2]
        picture = fn.flip(picture, horizontal=0, vertical=1)
    return fn.crop(picture, crop=(6, 6)), "same", [kind, 3]


@pytest.mark.parametrize("is_nested", [False, True])
def test_pictures_of_branches_that_may_return(is_nested):
    @pipeline_def(batch_size=6, num_threads=2, device_id=None, enable_conditionals=True)
    def make():
        picture, kind = fn.external_source(lambda: (pictures(), numbers()), num_outputs=2, dtype=[types.UINT8, types.INT32],
                                           layout=["HWC", None])  # fmt: skip
        if is_nested and kind != 0:
            made, same, ends = cut(fn, picture, kind)
        elif is_nested:
            made, same, ends = fn.crop(picture, crop=(6, 6)), "same", [kind, 3]
        else:
            made, same, ends = cut(fn, picture, kind)
        assert same == "same"
        return made, *ends, fn.cast(made, dtype=types.FLOAT)

    made, kinds, ends, floats = make().run()
    assert kinds.as_array().tolist() == KINDS and ends.as_array().tolist() == [3, 3, 3, 1, 3, 2]
    for kind, picture, got, other in zip(KINDS, pictures(), made, floats, strict=True):
        want = picture[:, ::-1] if kind > 1 else picture
        if kind == 3:
            want = want[4:9, 5:9]
        elif kind == 8:
            want = iruka.asnumpy(image.brightness(np.ascontiguousarray(want), 0.5))[4:8, 5:9]
        else:
            want = (want[::-1] if kind > 1 else want)[3:9, 4:10]
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(other, want)


def test_pictures_beside_dali():
    side = theirs()

    def both(functions, names, picture, kind):
        return changed(functions, names, functions.reshape(picture, layout="HWC"), kind)

    for a, b in zip(run(both, pictures(), numbers())[0], run(both, pictures(), numbers(), side=side)[0], strict=True):
        assert a.shape == b.shape and np.abs(a.astype(int) - b).max() <= 1


def test_operators_of_a_branch_run_for_its_samples_alone():
    called = []

    def note(x):
        called.append(int(x))
        return x

    def define(fn, types, kind):
        if kind > 2 and fn.python_function(kind, function=note) < 8:
            y = fn.python_function(kind * 100, function=note)
        else:
            y = kind + 1
        return y

    (made,) = run(define, numbers())
    assert [each.item() for each in made] == [1, 2, 3, 300, 500, 9]
    assert sorted(set(called)) == [3, 5, 8, 300, 500]  # of batches that are made ahead, too


def test_files_are_decoded_in_their_branch_alone():
    good = np.frombuffer(image.imencode("png", pictures()[0]), np.uint8)
    files = [good, np.frombuffer(b"no picture", np.uint8), good]

    def define(fn, types, content, kind):
        if kind == 1:
            picture = fn.zeros(shape=(12, 14, 3), dtype=types.UINT8)
        else:
            picture = fn.decoders.image(content)
        return picture

    (made,) = run(define, files, numbers(values=[0, 1, 2]))
    np.testing.assert_array_equal(made, [pictures()[0], np.zeros((12, 14, 3)), pictures()[0]])


def test_random_numbers_in_branches_follow_from_the_sample():
    def define(fn, types, kind):
        if kind < 3:
            x = fn.random.uniform(range=(0, 1))
        else:
            x = fn.random.uniform(range=(1, 2))
        return x

    one, other = run(define, numbers())[0], run(define, numbers())[0]
    np.testing.assert_array_equal(one, other)
    assert [each.item() >= 1 for each in one] == [kind >= 3 for kind in KINDS]
    assert len(set(map(float, one))) == len(KINDS)


def test_expressions_and_structures():
    def define(fn, types, kind):
        x = kind + 1 if kind > 1 else kind
        made = {"a": (x, 1), "b": [kind]}
        if kind == 5:
            made = {"a": (x * 2, 1), "b": [kind - 1]}
        return made["a"][0], made["b"][0], types.Constant(made["a"][1])

    made = run(define, numbers())
    assert [each.item() for each in made[0]] == [0, 1, 3, 4, 12, 9]
    assert [each.item() for each in made[1]] == [0, 1, 2, 3, 4, 8]
    assert [each.item() for each in made[2]] == [1] * 6


class Factors:
    """A method that is converted, and one that is not."""

    def __init__(self, factor):
        self.factor = factor

    def of(self, x, kind):
        if kind == 1:
            return x * self.factor
        return x

    @do_not_convert
    def plainly(self, x, kind):
        if kind == 1:
            return x * self.factor
        return x


def test_methods_and_functions_that_are_called():
    factors = Factors(7)
    (made,) = run(lambda fn, types, kind: fn.copy(kind), numbers())  # a lambda has no conditions of its own
    assert [each.item() for each in made] == KINDS

    def define(fn, types, kind):
        return factors.of(kind, kind)

    assert [each.item() for each in run(define, numbers())[0]] == [0, 7, 2, 3, 5, 8]

    def refused(fn, types, kind):
        return factors.plainly(kind, kind)

    with pytest.raises(TypeError, match="enable_conditionals=True"):
        run(refused, numbers())


def test_the_call_may_enable_conditionals():
    @pipeline_def(batch_size=6, num_threads=1, device_id=None)
    def make(added):
        kind = fn.external_source(lambda: numbers())
        if kind > 2:
            kind = kind + added
        return kind

    with pytest.raises(TypeError, match="enable_conditionals=True"):
        make(5)
    (made,) = make(5, enable_conditionals=True).run()
    assert made.as_array().tolist() == [0, 1, 2, 8, 10, 13]


def refuse_dtypes(fn, types, kind):
    kind = fn.cast(kind, dtype=types.INT32)
    if kind > 2:
        y = kind * 1.5
    else:
        y = kind
    return y


def refuse_dtypes_later(fn, types, kind):
    if kind > 2:
        y = kind * 1.5
    else:
        y = kind
    return y


def refuse_kinds(fn, types, kind):
    if kind > 2:
        y = kind
    else:
        y = "text"
    return y


def refuse_logic(fn, types, kind):
    return kind and kind > 2


def refuse_logic_later(fn, types, kind):
    return not fn.python_function(kind, function=lambda x: x)


def refuse_leak(fn, types, kind):
    leaked = []
    if kind > 2:
        leaked.append(kind + 1)
    return leaked[0] + 1


def refuse_leaked_output(fn, types, kind):
    leaked = []
    if kind > 2:
        leaked.append(kind + 1)
    return leaked[0]


def refuse_shape(fn, types, kind):
    if fn.stack(kind, kind):
        kind = kind + 1
    return kind


def refuse_loop(fn, types, kind):
    for _ in range(3):
        if kind > 2:
            break
    return kind


def refuse_variable(fn, types, kind):
    if kind > 2:
        y = kind
    return y


REFUSED = [
    (refuse_dtypes, TypeError, "variable 'y' is float32 in one branch and int32 in the other"),
    (refuse_dtypes_later, TypeError, "the samples of a batch have one dtype, not (int32, float32|float32, int32)"),
    (refuse_kinds, TypeError, "variable 'y' is DataNode.* in one branch and 'text' in the other"),
    (refuse_logic, TypeError, "`and` takes values of bool, not int32"),
    (refuse_logic_later, TypeError, "`not` takes values of bool, not int32"),
    (refuse_leak, ValueError, "was made in a branch of an if"),
    (refuse_leaked_output, ValueError, "was made in a branch of an if"),
    (refuse_shape, TypeError, "a condition is one number, not an array of shape"),
    (refuse_loop, TypeError, "without break and continue"),
    (refuse_variable, UnboundLocalError, "'y'"),
]


@pytest.mark.parametrize(("program", "error", "message"), REFUSED, ids=[each[0].__name__ for each in REFUSED])
def test_what_no_sample_could_mean_is_refused(program, error, message):
    with pytest.raises(error, match=message):
        run(program, numbers())


def test_functions_without_a_file_are_refused():
    space = {}
    exec("def define():\n    return 1\n", space)
    with pytest.raises(ValueError, match="needs a function whose code is in a file, not define"):
        pipeline_def(space["define"], enable_conditionals=True)(batch_size=1, device_id=None)


def ordinary(a, b=3, *rest, c=5, **named):
    """Conditions of all kinds on Python's own values."""
    total = 0
    if a > 2 and not b:
        total += 1
        x = 7
    elif a == 0 or c == 9:
        x = 8
    else:
        total -= 1
    for k in range(5):
        if k == 3:
            break
        if k % 2:
            total += k
        else:
            total += 10 * k
    with np.errstate(all="ignore"):
        if named:
            return "named", total
    if total > 5:
        if rest:
            return "rest", total, rest
        y = total if total > 20 else -total
    elif total == -100:
        raise ValueError
    else:
        y = 0

    def inner(q):
        nonlocal total
        if q:
            total += 1
        return q and total

    try:
        y += x
    except NameError:
        y += 1000
    return inner(y), [v for v in range(3) if v and v < 2], y


@pytest.mark.parametrize("a", [0, 1, 3, 5])
@pytest.mark.parametrize("b", [0, 2])
def test_code_on_pythons_values_means_what_it_says(a, b):
    made = converted(ordinary)
    assert made is not ordinary and made.__defaults__ == (3,)
    for rest in ((), (1,)):
        for named in ({}, {"c": 9}, {"z": 1}):
            assert made(a, b, *rest, **named) == ordinary(a, b, *rest, **named)


def test_errors_name_the_lines_of_the_code():
    with pytest.raises(TypeError) as caught:
        run(refuse_dtypes, numbers())
    lines = [each.line for each in traceback.extract_tb(caught.tb) if each.filename == __file__]
    assert lines[-1] == "if kind > 2:"
