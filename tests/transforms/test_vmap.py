"""vmap: dimensions, chunks, randomness, in-place writes, state outside, refusals."""

import pytest
from same import caught, check

import funtorch

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def grid(m, *shape):
    n = 1
    for size in shape:
        n *= size
    return m.arange(n, dtype=m.float64).reshape(shape) / 7


@program
def dimensions(m):
    vmap, a = m.func.vmap, grid(m, 2, 3, 4)
    b = grid(m, 3)
    return (
        vmap(lambda x: x.sum(0))(a), vmap(lambda x: x.sum(0), in_dims=1)(a), vmap(lambda x: x.t(), in_dims=-1)(a),
        vmap(lambda x: x * 2, in_dims=2, out_dims=-1)(a), vmap(lambda x, y: x * y, in_dims=(1, 0))(a, b),
        vmap(lambda x, y: x @ y.t(), in_dims=(0, None))(a, grid(m, 5, 4)), vmap(lambda x: (x, x.sum()), out_dims=(1, 0))(a),
        vmap(lambda x, *, k: x.sum() + k)(a, k=grid(m, 2)), vmap(lambda x: m.ones(2, dtype=m.float64))(a), vmap(lambda x: 3 * x, 0, 0)(b),
    )  # fmt: skip


@program
def containers(m):
    vmap, a = m.func.vmap, grid(m, 3, 2)

    def f(pair, options):
        x, (y,) = pair
        return {"sum": x + y, "parts": [x * options["k"], (y,)]}

    out = vmap(f, in_dims=((0, (1,)), {"k": None}))((a, (a.t().contiguous(),)), {"k": m.tensor(2.0, dtype=m.float64)})
    other = vmap(f, in_dims=((0, (None,)), None))((a, (a[0],)), {"k": m.tensor(2.0, dtype=m.float64)})
    return out, other, vmap(lambda d: {"z": d["b"], "a": d["a"]}, out_dims={"z": 1, "a": 0})({"b": a, "a": a})


@program
def nested(m):
    vmap, a = m.func.vmap, grid(m, 2, 3, 4)
    outer = vmap(vmap(lambda x, y: x * y, in_dims=(0, None)), in_dims=(0, 1))(a, grid(m, 4, 2))
    cross = vmap(lambda x: vmap(lambda y: x - y)(grid(m, 5)))(grid(m, 3))
    deep = vmap(vmap(vmap(lambda x: x.sin())))(a)
    return outer, cross, deep, vmap(vmap(lambda x: x.sum(), in_dims=1, out_dims=0), in_dims=2, out_dims=1)(a)


@program
def chunks(m):
    vmap, a = m.func.vmap, grid(m, 5, 3)
    f = lambda x: (x.cumsum(0), x.sum())  # noqa: E731
    return (
        [vmap(f, chunk_size=k)(a) for k in (1, 2, 3, 5, 9)],
        vmap(f, out_dims=(1, 0), chunk_size=2)(a),
        vmap(lambda x, y: x + y, in_dims=(1, None), chunk_size=2)(a, a[:, 0]),
    )


@program
def chunks_and_gradients(m):
    a, w = grid(m, 5, 3), grid(m, 3).requires_grad_()
    return m.autograd.grad(m.func.vmap(lambda x: (x * w).sin().sum(), chunk_size=2)(a).sum(), w)


@program
def refused_dimensions(m):
    vmap, a = m.func.vmap, grid(m, 2, 3)
    f = lambda *x: x[0]  # noqa: E731
    return [
        caught(run, 0)
        for run in (
            lambda: vmap(f, in_dims=2)(a), lambda: vmap(f, in_dims=-3)(a), lambda: vmap(f, in_dims=None)(a), lambda: vmap(f)(),
            lambda: vmap(f, in_dims=(0, 0))(a), lambda: vmap(f)(a, grid(m, 3)), lambda: vmap(f)(3.0), lambda: vmap(f, in_dims=((0,),))(a),
            lambda: vmap(lambda x: 3)(a), lambda: vmap(lambda x: (x, 3))(a), lambda: vmap(f, out_dims=(0, 0))(a), lambda: vmap(f, in_dims="0")(a),
            lambda: vmap(f, out_dims=5)(a), lambda: vmap(f, chunk_size=0)(a),
            lambda: vmap(f, out_dims=None)(a),
        )
    ]  # fmt: skip


@program
def messages(m):
    vmap, a = m.func.vmap, grid(m, 2, 3)

    def g(*x):
        return x[0]

    return (
        caught(lambda: vmap(g)(a, grid(m, 3)), 3), caught(lambda: vmap(lambda x: x.item())(grid(m, 2)), 6),
        caught(lambda: vmap(lambda x: m.rand(2) + x[:2])(a), 8),
    )  # fmt: skip


@program
def branches_on_lanes(m):
    def f(x):
        return x if x > 0 else -x

    return (
        caught(lambda: m.func.vmap(f)(grid(m, 3)), 0),
        m.func.vmap(lambda x: m.where(x > 0.2, x, -x))(grid(m, 3)),
        caught(lambda: m.func.vmap(lambda x: x if float(x) else x)(grid(m, 3)), 0),
    )


@program
def random_numbers(m):
    a = grid(m, 3, 2)

    def f(x):
        return x * 0 + m.rand(2, dtype=m.float64), m.randn(2, dtype=m.float64) + x

    found = []
    for mode in ("different", "same"):
        m.manual_seed(5)
        found.append(m.func.vmap(f, randomness=mode)(a))
        found.append(m.rand(1))
    m.manual_seed(5)
    found.append(m.func.vmap(f, randomness="different", chunk_size=2)(a))
    m.manual_seed(5)
    found.append(
        m.func.vmap(m.func.vmap(lambda x: m.rand(1, dtype=m.float64) + 0 * x, randomness="different"), randomness="same")(a)
    )
    for size in (1, 2):  # the numbers of the first chunk are those of all
        m.manual_seed(5)
        found += [m.func.vmap(f, randomness="same", chunk_size=size)(a), m.rand(1)]
        m.manual_seed(5)
        found += [m.func.vmap(lambda x: m.poisson(m.ones(2)) + x * m.rand(2), randomness="same", chunk_size=size)(a), m.rand(1)]
    return found, caught(lambda: m.func.vmap(f)(a), 4)


@program
def permutations_in_nested_lanes(m):
    found = []
    for modes in (("different", "different"), ("same", "different"), ("different", "same")):
        m.manual_seed(5)
        inner = lambda y, modes=modes: m.func.vmap(lambda x: m.randperm(5) + 0 * x, randomness=modes[1])(y)  # noqa: E731
        found += [m.func.vmap(inner, randomness=modes[0])(grid(m, 2, 3)), m.rand(1)]
    return found


@program
def random_numbers_without_a_lane(m):
    m.manual_seed(5)
    return m.func.vmap(lambda x: m.rand(2, dtype=m.float64), randomness="different")(grid(m, 3, 2)), m.func.vmap(
        lambda x: m.rand(2), randomness="same"
    )(grid(m, 3, 2))


@program
def in_place_on_arguments(m):
    a, b, c = grid(m, 3, 2), grid(m, 2, 3), grid(m, 3, 2)

    def f(x, y, z):
        x.mul_(2)
        y[0] = x[1]
        z[:1].add_(y[:1])
        return x.sum()

    out = m.func.vmap(f, in_dims=(0, 1, 0))(a, b, c)
    return out, a, b, c


@program
def in_place_on_fresh_tensors(m):
    def f(x):
        y = x.clone()
        y[0] = 5.0
        y.view(-1)[1:].mul_(x.sum())
        z = m.zeros_like(x)
        z.copy_(y)
        z += x
        w = x.new_zeros(4)
        w[:2] = x
        return y, z, w

    return m.func.vmap(f)(grid(m, 3, 2))


@program
def written_outside(m):
    outside, stays = m.zeros(2, dtype=m.float64), m.zeros(2, dtype=m.float64)

    def f(x):
        outside.add_(x)
        return x

    def g(x):
        stays.add_(1)
        return x

    return caught(lambda: m.func.vmap(f)(grid(m, 3, 2)), 0), outside, m.func.vmap(g)(grid(m, 3, 2)), stays


@program
def gradients_of_lanes(m):
    func, a, w = m.func, grid(m, 3, 2), grid(m, 2, 2)

    def loss(w, x):
        return (w @ x).tanh().sum()

    return (
        func.vmap(func.grad(loss), (None, 0))(w, a), func.grad(lambda w: func.vmap(loss, (None, 0))(w, a).sum())(w),
        func.vmap(func.jacrev(lambda x: w @ x))(a), func.vmap(lambda x: func.vjp(lambda w: loss(w, x), w)[1](m.ones((), dtype=m.float64))[0])(a),
    )  # fmt: skip


@program
def backward_through(m):
    a, w = grid(m, 3, 2).requires_grad_(), grid(m, 2).requires_grad_()
    m.func.vmap(lambda x: (x * w).sin().sum())(a).sum().backward()
    return a.grad, w.grad


@program
def no_gradients(m):
    a = grid(m, 3, 2).requires_grad_()
    with m.no_grad():
        out = m.func.vmap(lambda x: x * 2)(a)

    def inside(x):
        with m.no_grad():
            y = x * 2
        return y, x.detach() * x

    y, z = m.func.vmap(inside)(a)
    return out.requires_grad, y.requires_grad, m.autograd.grad(z.sum(), a)


@program
def named_tuples_and_kept_dtypes(m):
    values, places = m.func.vmap(lambda x: tuple(x.max(0)))(grid(m, 3, 2))
    return values, places, m.func.vmap(lambda x: x > 0.3)(grid(m, 3, 2)), m.func.vmap(lambda x: x.to(m.float32))(grid(m, 2))


@program
def indexing_of_lanes(m):
    a, i = grid(m, 3, 4), m.tensor([2, 0, 3])
    return (
        m.func.vmap(lambda x, i: x[i.view(1)])(a, i), m.func.vmap(lambda i: a[0].index_select(0, i.view(1)))(i),
        m.func.vmap(lambda x: x[m.tensor([0, -1])])(a), m.func.vmap(lambda x, i: x.gather(0, i.view(1)))(a, i),
    )  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_torch(program):
    check(program)


def _training(x):
    """Three steps by hand on a fresh leaf in each lane: the leaf and its loss."""
    w = funtorch.zeros(2, dtype=funtorch.float64, requires_grad=True)
    for _ in range(3):
        loss = ((w * x).sum() - 1) ** 2
        w.grad = None
        loss.backward()
        with funtorch.no_grad():
            w -= 0.1 * w.grad
    return w, loss


def test_backward_on_fresh_leaves_inside():
    xs = grid(funtorch, 4, 2)
    together = funtorch.func.vmap(_training)(xs)
    alone = [_training(x) for x in xs]
    for k in (0, 1):
        assert funtorch.allclose(together[k], funtorch.stack([a[k] for a in alone]))


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_an_optimiser_on_fresh_parameters_inside(kind):
    def train(x):
        w = funtorch.nn.Parameter(funtorch.zeros(2, dtype=funtorch.float64))
        optimizer = getattr(funtorch.optim, kind)([w], lr=0.1, **({"momentum": 0.9} if kind == "SGD" else {}))
        for _ in range(3):
            optimizer.zero_grad()
            loss = ((w * x).sum() - 1) ** 2
            loss.backward()
            optimizer.step()
        return w * 1

    xs = grid(funtorch, 4, 2)
    assert funtorch.allclose(funtorch.func.vmap(train)(xs), funtorch.stack([train(x) for x in xs]))


def test_second_order_training_inside():
    """Meta-gradients: a lane's inner steps with ``create_graph``, differentiated by what all lanes share."""

    def adapted(start, x):
        w = start * 1
        for _ in range(2):
            loss = ((w * x).sum() - 1) ** 2
            (g,) = funtorch.autograd.grad(loss, w, create_graph=True)
            w = w - 0.1 * g
        return ((w * x).sum() - 2) ** 2

    xs = grid(funtorch, 4, 2)
    start = funtorch.ones(2, dtype=funtorch.float64, requires_grad=True)
    together = funtorch.autograd.grad(funtorch.func.vmap(lambda x: adapted(start, x))(xs).sum(), start)[0]
    loop = funtorch.autograd.grad(sum(adapted(start, x) for x in xs), start)[0]
    assert funtorch.allclose(together, loop)


@pytest.mark.parametrize(
    ("buffers", "expected"), [("mean", [2.0, 3.0]), ("stack", [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]), ("discard", [0.0, 0.0])]
)
def test_writes_outside_by_what_is_asked(buffers, expected):
    running, xs = funtorch.zeros(2), funtorch.arange(6.0).reshape(3, 2)

    def f(x):
        running.mul_(0.5).add_(x)
        return running.sum()

    out = funtorch.vmap(f, buffers=buffers)(xs)
    assert out.tolist() == [1.0, 5.0, 9.0] and running.tolist() == expected


def test_a_write_outside_is_refused_by_name_and_changes_nothing():
    running = funtorch.zeros(2)
    with pytest.raises(RuntimeError, match=r"batch 3.*buffers=") as error:
        funtorch.vmap(lambda x: running.add_(x).sum())(funtorch.ones(3, 2))
    assert "[2]" in str(error.value) and running.tolist() == [0.0, 0.0] and running._version == 0
    with pytest.raises(ValueError, match="buffers"):
        funtorch.vmap(lambda x: x, buffers="sum")


def test_an_index_write_with_a_mapped_value_to_the_outside_is_refused():
    memory = funtorch.zeros(4)
    view = memory[:2]
    for write in (lambda x: memory.__setitem__(0, x), lambda x: view.add_(x), lambda x: memory.copy_(x.expand(4))):
        with pytest.raises(RuntimeError, match="outside of vmap"):
            funtorch.vmap(lambda x: write(x) or x)(funtorch.ones(3))  # noqa: B023
    assert memory.tolist() == [0.0] * 4


def test_writes_of_tensors_from_an_outer_vmap():
    def outer(row):
        total = funtorch.zeros(())
        total = total + row.sum() * 0

        def inner(x):
            return x + total

        lanes = funtorch.vmap(inner)(row)
        total.add_(lanes.sum())
        return total

    assert funtorch.vmap(outer)(funtorch.arange(6.0).reshape(2, 3)).tolist() == [3.0, 12.0]
