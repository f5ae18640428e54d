"""Random small programs, of expressions, branches, writes in place and views: eager, compiled, and mapped lane by lane."""

import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import funtorch
from funtorch.func import vmap

UNARY = ("sin", "tanh", "neg", "square", "abs")
BINARY = ("add", "mul", "sub", "maximum")
VIEWS = {
    "row": lambda t: t[0],
    "column": lambda t: t[:, 1],
    "turned": lambda t: t.t(),
    "flat": lambda t: t.reshape(-1),
    "part": lambda t: t[1:, :2],
    "diagonal": lambda t: t.diagonal(),
}
NAMES = st.integers(0, 20)  # of a variable: the number of one that exists, modulo their count

simple = st.one_of(
    st.tuples(st.just("unary"), NAMES, st.sampled_from(UNARY)),
    st.tuples(st.just("binary"), NAMES, NAMES, st.sampled_from(BINARY)),
    st.tuples(st.just("view"), NAMES, st.sampled_from(sorted(VIEWS))),
    st.tuples(st.just("write"), NAMES, st.sampled_from(("add_", "mul_", "fill_")), st.integers(-2, 2)),
    st.tuples(st.just("masked"), NAMES, st.integers(-1, 1)),
    st.tuples(
        st.just("count"),
    ),
)
branch = st.tuples(st.just("branch"), NAMES, st.integers(-1, 1), st.lists(simple, max_size=3), st.lists(simple, max_size=3))
programs = st.lists(st.one_of(simple, simple, branch), min_size=1, max_size=6)


def meaning(program, cell):
    """The program as a function: of a (3, 3) Tensor, to all of its variables."""

    def run(variables, block):
        for kind, *rest in block:
            if kind == "count":
                cell.add_(variables[0].sum().detach() * 0.1 + 1)
                variables.append(variables[0] * cell)
                continue
            target = variables[rest[0] % len(variables)]
            if kind == "unary":
                variables.append(getattr(target, rest[1])())
            elif kind == "binary":
                other = variables[rest[1] % len(variables)]
                variables.append(getattr(target, rest[2])(other.sum() if other.shape != target.shape else other))
            elif kind == "view" and target.dim() == 2 and target.shape == (3, 3):
                variables.append(VIEWS[rest[1]](target))
            elif kind == "write":
                getattr(target, rest[1])(rest[2] * 0.5)
            elif kind == "masked":
                target[target > rest[1]] = 0.25
            elif kind == "branch":
                run(variables, rest[2] if target.sum() > rest[1] else rest[3])

    def step(x):
        variables = [x]
        run(variables, program)
        return tuple(variables)

    return step


def values(i):
    return funtorch.tensor(np.random.RandomState(i % 3).randn(3, 3).round(3))


def seen(results, x, cell):
    return [r.detach().numpy().copy() for r in (*results, x, cell)] + [r._is_view() for r in results]


def equal(a, b):
    assert len(a) == len(b)
    for p, q in zip(a, b, strict=True):
        np.testing.assert_allclose(np.asarray(q), np.asarray(p), rtol=1e-10, atol=1e-12)


quietly = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=False, database=None)


@quietly
@given(programs)
def test_compiled_as_eager(program):
    cells = [funtorch.zeros(()), funtorch.zeros(())]
    eager, run = meaning(program, cells[0]), funtorch.compile(meaning(program, cells[1]))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*stays eager")
        for i in range(7):
            x, y = values(i), values(i)
            a, b = eager(x), run(y)
            # A write afterwards shows who shares elements with whom.
            for found in (a, b):
                found[len(found) // 2].add_(0.125)
            ours, theirs = seen(a, x, cells[0]), seen(b, y, cells[1])
            equal(ours[: -len(a)], theirs[: -len(b)])
    assert run.counts["compiled"] > 0 or len(run.entries) != 1 or next(iter(run.entries.values())).eager


def by_lanes(program, xs):
    rows = [meaning(program, funtorch.zeros(()))(x.clone()) for x in xs]
    shapes = {tuple(tuple(r.shape) for r in row) for row in rows}
    return None if len(shapes) > 1 else [funtorch.stack([r.clone() for r in column]) for column in zip(*rows, strict=True)]


@quietly
@given(programs)
def test_mapped_as_a_loop(program):
    if any(step[0] == "count" for step in flat(program)):
        return  # a counter outside would be written by each lane
    xs = funtorch.stack([values(i) for i in range(3)])
    expected = by_lanes(program, xs)
    if expected is None:
        return
    looped = vmap(meaning(program, funtorch.zeros(())), mode="loop")(xs.clone())
    equal([e.numpy() for e in expected], [r.numpy() for r in looped])
    if not any(step[0] == "branch" for step in program):
        mapped = vmap(meaning(program, funtorch.zeros(())))(xs.clone())
        equal([e.numpy() for e in expected], [r.numpy() for r in mapped])


def flat(program):
    for step in program:
        yield step
        if step[0] == "branch":
            yield from step[3]
            yield from step[4]


@quietly
@given(programs)
def test_gradients_of_compiled_programs(program):
    def loss(step, w):
        return sum(r.sum() for r in step(w * 1))

    cells = [funtorch.zeros(()), funtorch.zeros(())]
    eager = meaning(program, cells[0])
    compiled = meaning(program, cells[1])
    run = funtorch.compile(lambda w: loss(compiled, w))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*stays eager")
        for i in range(4):
            found = []
            for f in (lambda w: loss(eager, w), run):
                w = values(i).requires_grad_()
                f(w).backward()
                found.append(w.grad.numpy())
            equal(*([f] for f in found))
