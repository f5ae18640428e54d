"""Direct forms beside the programs that are traced: the same values and derivatives, and the same arguments looked at."""

import itertools

import numpy as np
import pytest
from jax.interpreters import partial_eval

import funtorch
from funtorch.core.direct import MOST_ELEMENTS
from funtorch.core.host import prepare
from funtorch.ops import class_loss, embedding, joining, recurrent_cells, squeezing, windows
from funtorch.optim import sgd, update

F32, F64, I64 = (np.dtype(t) for t in (np.float32, np.float64, np.int64))


def declared(function, arrays, *statics, cast=None):
    """The Op of a public function with given statics, for so many arrays."""
    return function.__wrapped_op__.bind(cast, (None,) * arrays, *statics)


def promoted(function, arrays, *statics):
    return {dtype: declared(function, arrays, *statics, cast=funtorch.dtypes.FROM_NUMPY[dtype]) for dtype in (F32, F64)}


TABLES = {dtype: declared(embedding._embedding, 2, None, False) for dtype in (F32, F64)}
LOSSES = {
    k: class_loss._cross_entropy.__wrapped_op__.bind(None, (None, None, -1), *k) for k in ((-100, 0.0, "mean"), (2, 0.0, "mean"))
}
LINEAR = funtorch.nn.functional.linear


def cases():
    """Name, Op, and the shapes (or arrays) of its arguments, for both types."""
    for dtype in (F32, F64):
        short = str(dtype)
        for name in ("tanh", "sigmoid"):
            for shape in ((), (3, 4), (0, 2)):
                yield f"{name} {shape} {short}", promoted(getattr(funtorch, name), 1)[dtype], [(shape, dtype)]
        yield f"relu {short}", declared(funtorch.relu, 1), [((3, 4), dtype)]
        for name in ("add", "sub", "mul"):
            statics = () if name == "mul" else (1,)
            for shapes in (((3, 4),) * 2, ((), ()), ((5,), ())):
                yield (
                    f"{name} {shapes} {short}",
                    promoted(getattr(funtorch, name), 2, *statics)[dtype],
                    [(s, dtype) for s in shapes],
                )
        for shapes in (((6,), (4, 6)), ((6,), (4, 6), (4,)), ((3, 6), (4, 6)), ((3, 6), (4, 6), (4,)), ((0, 6), (4, 6), (4,))):
            yield (
                f"linear {shapes} {short}",
                declared(LINEAR, len(shapes)) if len(shapes) == 3 else WITHOUT_BIAS,
                [(s, dtype) for s in shapes],
            )
        for shape in ((), (5,)):
            yield f"embedding {shape} {short}", TABLES[dtype], [np.resize([3, 1, 3, 0, 2], shape), ((4, 3), dtype)]
        for (ignored, *_), op in LOSSES.items():
            classes = np.array([1, 2, 0, 2])
            yield f"cross entropy ignoring {ignored} {short}", op, [((4, 3), dtype), classes]
        yield f"cross entropy of nothing {short}", LOSSES[2, 0.0, "mean"], [((2, 3), dtype), np.array([2, 2])]
        rows, wide, size = 3, 5, 2
        shapes = ((rows, wide), (rows, size), (rows, size), (4 * size, wide), (4 * size, size), (4 * size,), (4 * size,))
        yield f"lstm cell {short}", declared(recurrent_cells._lstm_cell, 7), [(s, dtype) for s in shapes]
        yield f"cat {short}", joining._cat(1), [((2, 3), dtype), ((2, 1), dtype), ((2, 0), dtype)]
        yield f"unsqueeze {short}", OPS["unsqueeze"], [((2, 3), dtype)]
        yield f"squeeze {short}", OPS["squeeze"], [((2, 1, 3), dtype)]
    for drop in (True, False):
        yield f"unbind, dropping {drop}", windows._MAKERS["unbind"](1, ((0, 1), (2, 1)), drop), [((2, 3), F32)]
    yield "unbind to numbers", windows._MAKERS["unbind"](0, ((0, 1), (1, 1)), True), [((2,), I64)]


WITHOUT_BIAS = LINEAR.__wrapped_op__.bind(None, (None, None, -1))
OPS = {}


def setup_views():
    """The Ops of two views, as the engine keeps them."""
    for name, make in (("unsqueeze", lambda: squeezing._unsqueeze), ("squeeze", lambda: squeezing._squeeze)):
        view = make()
        bound = next(cell.cell_contents for cell in view.__closure__ if hasattr(cell.cell_contents, "cache_info"))
        OPS[name] = bound(1 if name == "unsqueeze" else (1,))


setup_views()
CASES = list(cases())


def filled(draw, spec):
    """An argument; of floats some are infinite or NaN."""
    if isinstance(spec, np.ndarray):
        return spec
    shape, dtype = spec
    if dtype == I64:
        return draw.integers(0, 9, shape)
    return draw.standard_normal(shape).astype(dtype)


def special(values):
    """The same with infinities, NaN and zeros of either sign in the first float argument."""
    first = values[0].copy()
    first.reshape(-1)[:5] = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0], first.dtype)[: first.size]
    return [first, *values[1:]]


def traced(op, key):
    return prepare(op.trace(key)[0])


def avals(values):
    return tuple((v.shape, v.dtype) for v in values)


def agree(got, want):
    assert len(got) == len(want)
    for ours, theirs in zip(got, want, strict=True):
        assert type(ours) is np.ndarray
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        tolerance = 1e-12 if ours.dtype == F64 else 2e-6
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("edges", [False, True], ids=["finite", "edges"])
@pytest.mark.parametrize(("op", "specs"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_values_and_derivatives(op, specs, edges):
    draw = np.random.default_rng(0)
    values = [filled(draw, spec) for spec in specs]
    if edges and values[0].dtype.kind == "f":
        values = special(values)
    key = avals(values)
    form = op.direct.forward(key)
    with np.errstate(all="ignore"):
        results = (form.run(*values),) if form.bare else form.run(*values)
        want = traced(op, key)(*values)
        agree(results, want)
        assert form.single == op.trace(key)[1]
        if op.direct.backward is None:
            return
        floats = [v.dtype.kind == "f" for v in values]
        cotangents = [draw.standard_normal(r.shape).astype(r.dtype) for r in results]
        for mask in itertools.product(*[(False, True) if can else (False,) for can in floats]):
            pull = op.direct.backward(mask, key) if any(mask) else None
            if pull is None:
                continue
            full = (*key, *avals(cotangents))
            derivative = op.vjp(mask)
            given = [v if read else None for v, read in zip(values, pull.reads, strict=True)]
            agree(pull.run(*given, *cotangents), traced(derivative, full)(*values, *cotangents))
            closed = derivative.trace(full)[0]
            used = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))[1]
            assert list(pull.reads) == list(used[: len(values)])


def test_large_calls_and_other_types_are_traced():
    many = MOST_ELEMENTS + 1
    for shape, dtype in (((many,), F32), ((2,), np.dtype(np.float16)), ((2,), np.dtype(np.complex64))):
        assert promoted(funtorch.tanh, 1)[F32].direct.forward(((shape, dtype),)) is None
    add = promoted(funtorch.add, 2, 1)[F32].direct
    assert add.forward((((2, 1), F32), ((3,), F32))) is None
    assert add.backward((True, True), (((2,), F32), ((), F32))) is None
    assert promoted(funtorch.add, 2, 2)[F32].direct is None


def test_wrong_sizes_are_left_to_the_op():
    linear = declared(LINEAR, 3).direct
    assert linear.forward((((2, 3), F32), ((4, 5), F32), ((4,), F32))) is None
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        LINEAR(funtorch.ones(2, 3), funtorch.ones(4, 5), funtorch.ones(4))


@pytest.mark.parametrize(
    "options", [{}, {"momentum": 0.9}, {"weight_decay": 0.1, "maximize": True}, {"momentum": 0.9, "nesterov": True}]
)
def test_a_step_of_sgd(options):
    def train(engine):
        with funtorch.set_engine(engine):
            p, q = funtorch.tensor([1.0, -2.0], requires_grad=True), funtorch.tensor(3.0, requires_grad=True)
            optimizer = funtorch.optim.SGD([p, q], lr=0.1, **options)
            for _ in range(3):
                optimizer.zero_grad()
                (p.square().sum() * q).backward()
                optimizer.step()
            return [*p.tolist(), q.item()]

    np.testing.assert_allclose(train("auto"), train("kernel"), rtol=1e-6)
    assert (update._step_op(sgd.sgd_rule, tuple(options.items()), (), (), 1, ("lr",)).direct is None) == bool(options)
