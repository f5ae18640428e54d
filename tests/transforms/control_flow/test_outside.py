"""What the functions of loops and branches take from outside: Tensors, modules, state, random numbers, derivatives of their own."""

import copy

import numpy as np
import pytest
import torch as reference

import funtorch
from funtorch import nn
from funtorch.func import associative_scan, cond, fori_loop, grad, hessian, jvp, scan, switch, vmap, while_loop
from funtorch.func import map as mapped

X = np.random.default_rng(1).normal(size=(6, 4, 3)).astype(np.float32)


def close(a, b, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


def recurrent(cell, x):
    return scan(lambda h, a: (lambda n: (n, n))(cell(a, h)), funtorch.zeros(4, 5), x)[1]


def test_a_modules_parameters_get_gradients_as_in_torch():
    funtorch.manual_seed(0)
    cell = nn.GRUCell(3, 5)
    theirs = reference.nn.GRUCell(3, 5)
    theirs.load_state_dict({k: reference.tensor(np.asarray(v.detach())) for k, v in cell.state_dict().items()})
    recurrent(cell, funtorch.tensor(X)).sin().sum().backward()
    h, total = reference.zeros(4, 5), 0
    for a in reference.tensor(X):
        h = theirs(a, h)
        total = total + h.sin().sum()
    total.backward()
    for mine, its in zip(cell.parameters(), theirs.parameters(), strict=True):
        close(mine.grad, its.grad)


def test_per_sample_gradients_of_a_module_in_a_loop():
    funtorch.manual_seed(0)
    cell = nn.RNNCell(3, 5)
    parameters = dict(cell.named_parameters())
    x = funtorch.tensor(X).transpose(0, 1)

    def loss(parameters, sequence):
        step = lambda h, a: (funtorch.func.functional_call(cell, parameters, (a, h)), None)  # noqa: E731
        return scan(step, funtorch.zeros(5), sequence)[0].pow(2).sum()

    each = vmap(grad(loss), in_dims=(None, 0))(parameters, x)
    for lane in range(4):
        for name, g in grad(loss)(parameters, x[lane]).items():
            close(each[name][lane].detach(), g.detach())


@pytest.mark.parametrize("construct", ["scan", "map", "cond", "while", "fori"])
def test_batch_norm_moves_its_statistics_as_in_a_loop(construct):
    bn, twin = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    x = funtorch.tensor(X)
    runs = {
        "scan": lambda: scan(lambda c, a: (c, bn(a)), funtorch.zeros(()), x)[1],
        "map": lambda: mapped(lambda a: bn(a), x),
        "cond": lambda: cond(x.sum() < 1e9, lambda: bn(x[0]), lambda: x[0] * 1),
        "while": lambda: while_loop(lambda i, z: i < 6, lambda i, z: (i + 1, bn(x[i])), (funtorch.tensor(0), x[0]))[1],
        "fori": lambda: fori_loop(0, 6, lambda i, z: bn(x[i]), x[0]),
    }
    found = runs[construct]()
    results = [twin(a) for a in (x[:1] if construct == "cond" else x)]
    close(found.detach(), (funtorch.stack(results) if construct in ("scan", "map") else results[-1]).detach())
    for mine, its in zip(bn.buffers(), twin.buffers(), strict=True):
        close(mine, its)
    assert not bn.running_mean.requires_grad


def test_a_branch_that_is_not_taken_writes_nothing():
    buffer = funtorch.zeros(2)
    for sign in (1.0, -1.0):
        cond(funtorch.tensor(sign) > 0, lambda: buffer.add_(1).sum(), lambda: buffer.sum() * 2)
    assert buffer.tolist() == [1.0, 1.0]


def test_a_write_with_history_is_differentiated():
    w = funtorch.tensor(3.0, requires_grad=True)
    total = funtorch.zeros(())
    scan(lambda c, x: (c, total.add_(w * x)), funtorch.zeros(()), funtorch.arange(4.0))
    total.backward()
    assert total.item() == 18.0 and w.grad.item() == 6.0


def test_state_in_compiled_loops():
    bn, count = nn.BatchNorm1d(3), funtorch.zeros((), dtype=funtorch.int64)
    twin, twin_count = copy.deepcopy(bn), count.clone()

    def run(bn, count, x):
        def step(c, a):
            count.add_(1)
            return c + bn(a).sum(), None

        return scan(step, funtorch.zeros(()), x)[0]

    compiled = funtorch.compile(lambda x: run(bn, count, x))
    for k in range(4):
        x = funtorch.tensor(X + k)
        close(compiled(x).detach(), run(twin, twin_count, x).detach(), 1e-4)
    assert count.item() == twin_count.item() == 24 and compiled.counts["compiled"] == 2
    close(bn.running_mean, twin.running_mean)


def test_write_of_a_mapped_value_names_the_buffer():
    bn = nn.BatchNorm1d(3)
    f = lambda x: scan(lambda c, a: (c, bn(a)), funtorch.zeros(()), x)[1]  # noqa: E731
    x = funtorch.tensor(X).reshape(2, 3, 4, 3)
    with pytest.raises(RuntimeError, match="running_mean"):
        vmap(f)(x)
    assert bn.running_mean.abs().sum().item() == 0
    vmap(f, buffers="mean")(x)
    assert bn.running_mean.abs().sum().item() > 0


# Random numbers


def dropped(x):
    drop = nn.Dropout(0.5)
    return scan(lambda c, a: (c, drop(a)), funtorch.zeros(()), x)[1]


def test_each_step_draws_its_own_numbers_and_each_call_new_ones():
    funtorch.manual_seed(0)
    x = funtorch.ones(50, 40)
    first, second = dropped(x), dropped(x)
    assert set(first.unique().tolist()) == {0.0, 2.0}
    assert len({tuple(row.tolist()) for row in (*first, *second)}) == 100
    assert abs(first.mean().item() - 1) < 0.1
    funtorch.manual_seed(0)
    assert funtorch.equal(dropped(x), first)


def test_the_gradient_is_that_of_the_numbers_drawn():
    x = funtorch.ones(5, 4, requires_grad=True)
    y = dropped(x)
    y.sum().backward()
    assert funtorch.equal(x.grad, y.detach())


def test_draws_in_compiled_loops_are_the_eager_ones():
    def f(x):
        return fori_loop(0, 3, lambda i, z: z + funtorch.randn(4) * funtorch.rand(4), x)

    def calls(f):
        funtorch.manual_seed(2)
        found = [f(funtorch.zeros(4)).tolist() for _ in range(4)]
        return found, funtorch.rand(1).item()  # the generator goes on alike

    compiled = funtorch.compile(f)
    np.testing.assert_allclose(calls(compiled)[0], calls(f)[0], rtol=1e-4)
    assert compiled.counts["compiled"] == 2 and calls(f)[1] == calls(compiled)[1]


@pytest.mark.parametrize("randomness", ["different", "same", "error"])
def test_draws_in_lanes(randomness):
    f = vmap(lambda x: dropped(x), randomness=randomness)
    if randomness == "error":
        with pytest.raises(RuntimeError, match="randomness error mode"):
            f(funtorch.ones(3, 20, 5))
    else:
        lanes = f(funtorch.ones(3, 20, 5))
        assert funtorch.equal(lanes[0], lanes[1]) == (randomness == "same")


DRAWS = {
    "rand": lambda: funtorch.rand(20000), "randn": lambda: funtorch.randn(20000), "randint": lambda: funtorch.randint(3, 9, (20000,)),
    "randperm": lambda: funtorch.randperm(2000), "uniform_": lambda: funtorch.empty(20000).uniform_(-2, 3),
    "normal_": lambda: funtorch.empty(20000).normal_(1, 2), "exponential_": lambda: funtorch.empty(20000).exponential_(2),
    "geometric_": lambda: funtorch.empty(20000).geometric_(0.3), "log_normal_": lambda: funtorch.empty(20000).log_normal_(0, 0.25),
    "random_": lambda: funtorch.empty(20000, dtype=funtorch.int64).random_(5, 12), "bernoulli_": lambda: funtorch.empty(20000).bernoulli_(0.3),
    "complex": lambda: funtorch.randn(20000, dtype=funtorch.complex64).abs(), "cauchy_": lambda: funtorch.empty(20000).cauchy_(1, 2).atan(),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWS)
def test_laws(name):
    """A draw inside has the law of one outside."""
    funtorch.manual_seed(0)
    inside = cond(funtorch.tensor(True), DRAWS[name], DRAWS[name])
    outside = DRAWS[name]()
    assert inside.dtype == outside.dtype and inside.shape == outside.shape
    for q in (0.1, 0.4, 0.9):
        a, b = (np.quantile(np.asarray(z), q) for z in (inside, outside))
        assert abs(a - b) <= 0.05 * max(float(np.asarray(outside, np.float64).std()), 0.1), (q, a, b)
    if name == "randperm":
        assert sorted(inside.tolist()) == list(range(2000))


def test_draws_whose_law_depends_on_values():
    """A Markov chain: the next state's law depends on the present one."""
    funtorch.manual_seed(0)
    law = funtorch.tensor([[0.9, 0.1], [0.3, 0.7]])
    states = scan(lambda s, _: (funtorch.multinomial(law[s], 1)[0],) * 2, funtorch.tensor(0), None, length=4000)[1]
    assert abs(states.float().mean().item() - 0.25) < 0.05
    assert abs(states[1:][states[:-1] == 1].float().mean().item() - 0.7) < 0.06
    coins = mapped(funtorch.bernoulli, funtorch.full((50, 100), 0.3))
    assert set(coins.unique().tolist()) == {0.0, 1.0} and abs(coins.mean().item() - 0.3) < 0.03
    with pytest.raises(RuntimeError, match="every p to be in"):
        mapped(funtorch.bernoulli, funtorch.tensor([[0.3], [1.5]]))
    drawn = mapped(lambda p: funtorch.multinomial(p, 900, replacement=True), funtorch.tensor([[1.0, 0.0, 3.0]] * 2))
    assert (
        drawn.shape == (2, 900)
        and set(drawn.unique().tolist()) == {0, 2}
        and abs((drawn == 0).float().mean().item() - 0.25) < 0.05
    )
    with pytest.raises(RuntimeError, match="multinomial"):
        mapped(lambda p: funtorch.multinomial(p, 9, replacement=True), funtorch.tensor([[-1.0, 2.0]]))


# Derivatives of their own, and none


class Doubled(funtorch.autograd.Function):
    """x^2 with twice its slope."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 4 * x * g


class Clipped(funtorch.autograd.Function):
    """The identity, whose gradient is not linear in what comes in."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g.clamp(-1, 1)


def test_custom_functions_keep_their_derivative():
    x = funtorch.tensor([1.0, 2.0, 3.0])
    f = lambda x: scan(lambda c, a: (c + Doubled.apply(a), None), funtorch.zeros(()), x)[0]  # noqa: E731
    assert f(x).item() == 14
    assert grad(f)(x).tolist() == [4, 8, 12]
    assert jvp(f, (x,), (funtorch.ones(3),))[1].item() == 24
    assert hessian(f)(x).diagonal().tolist() == [4, 4, 4]
    assert vmap(grad(f))(x[None])[0].tolist() == [4, 8, 12]
    leaf = x.clone().requires_grad_()
    compiled = funtorch.compile(lambda: f(leaf))
    for _ in range(3):
        leaf.grad = None
        compiled().backward()
        assert leaf.grad.tolist() == [4, 8, 12]


def test_custom_functions_for_reverse_mode_alone():
    x = funtorch.tensor([5.0, 0.1], requires_grad=True)
    f = lambda x: scan(lambda c, a: (c + Clipped.apply(a) * a.detach(), None), funtorch.zeros(()), x)[0]  # noqa: E731
    f(x).backward()
    close(x.grad, [1.0, 0.1])
    with pytest.raises(RuntimeError, match="forward-mode"):
        jvp(f, (x.detach(),), (funtorch.ones(2),))


def test_what_has_no_history_in_a_loop_has_none_here():
    w = funtorch.tensor(2.0, requires_grad=True)
    x = funtorch.arange(3.0)

    def step(c, a):
        with funtorch.no_grad():
            scale = a * w
        return c + w * scale, (a.detach() * 2, scale, c)

    c, (plain, scale, carries) = scan(step, funtorch.zeros(()), x)
    assert c.requires_grad and carries.requires_grad and not plain.requires_grad and not scale.requires_grad
    c.backward()
    assert w.grad.item() == 6.0  # the scale counts as a constant


def test_a_gradient_without_graph_is_a_constant():
    p = funtorch.tensor(0.7, requires_grad=True)

    def step(w, a):
        (g,) = funtorch.autograd.grad(((w * a - p) ** 2).sum(), w)
        return w - 0.1 * g, None

    def run(loop):
        w, x = funtorch.ones(2) * p, funtorch.tensor(X[:, 0, :2])
        if loop:
            for a in x:
                w = step(w, a)[0]
        else:
            w = scan(step, w, x)[0]
        return funtorch.autograd.grad(w.sum(), p)[0].item()

    assert run(True) == pytest.approx(run(False)) == 2.0


def test_a_branch_not_taken_does_not_spoil_a_gradient():
    f = lambda x: cond(x > 0, funtorch.sqrt, lambda x: x * 2, (x,))  # noqa: E731
    x = funtorch.tensor([0.0, 4.0])
    together = grad(lambda x: vmap(f)(x).sum())
    assert together(x).tolist() == vmap(grad(f))(x).tolist() == [2.0, 0.25]
    assert vmap(vmap(grad(f)))(x[None])[0].tolist() == [2.0, 0.25]
    assert grad(lambda x: vmap(vmap(f))(x).sum())(x[None])[0].tolist() == [2.0, 0.25]
    assert switch(funtorch.tensor(7), [f, f, funtorch.neg], x[1]).item() == -4


def test_an_inner_transform_over_an_outer_tensor():
    w = funtorch.tensor([1.0, 2.0], requires_grad=True)
    y = scan(lambda c, a: (c + vmap(lambda r: r * a)(w).sum(), None), funtorch.zeros(()), funtorch.arange(3.0))[0]
    y.backward()
    assert y.item() == 9.0 and w.grad.tolist() == [3.0, 3.0]


def test_associative_scan_reads_outer_tensors():
    w = funtorch.tensor(0.5, requires_grad=True)
    x = funtorch.tensor([1.0, 2.0, 3.0])
    y = associative_scan(lambda a, b: a * b * w, x, 0)
    close(y.detach(), [1.0, 1.0, 1.5])
    y.sum().backward()
    close(w.grad, 2 + 2 * 6 * 0.5)


def test_decisions_on_outer_tensors_are_pythons():
    flag, x = funtorch.tensor(1.0), funtorch.arange(3.0)

    def f():
        return scan(lambda c, a: (c + a if flag.item() > 0 else c - a, None), funtorch.zeros(()), x)[0]

    compiled = funtorch.compile(f)
    found = []
    for value in (1.0, 1.0, 1.0, -1.0):
        flag.fill_(value)
        found.append(compiled().item())
    assert found == [3.0, 3.0, 3.0, -3.0]
    assert vmap(lambda z: z + f())(funtorch.zeros(2)).tolist() == [-3.0, -3.0]


def test_what_is_made_inside_and_kept_says_so():
    held = []
    scan(lambda c, a: (c, (held.append(a * 2), a)[1]), funtorch.zeros(()), funtorch.arange(3.0))
    with pytest.raises(RuntimeError, match="was made inside scan and is used after scan returned"):
        held[0] + 1


def test_modes_of_modules_are_seen_in_compiled_loops():
    drop = nn.Dropout(0.5)
    compiled = funtorch.compile(lambda x: scan(lambda c, a: (c + drop(a), None), funtorch.zeros(50), x)[0])
    for training in (True, True, True, False, False, False):
        drop.train(training)
        found = compiled(funtorch.ones(1, 50))
        assert set(found.unique().tolist()) == ({0.0, 2.0} if training else {1.0})
    assert compiled.counts["compiled"] == 2


def test_what_is_expected_again_may_have_changed():
    """The Tensors that a function reads are remembered from its last call: others, fewer or more change nothing but time."""
    a, b, c = (funtorch.tensor(float(v), requires_grad=True) for v in (2, 3, 5))

    def run(tensors):
        return scan(lambda s, x: (s + x * sum(tensors), None), funtorch.zeros(()), funtorch.ones(2))[0]

    for tensors in ([a], [b], [a, b], [c], [a, b, c], [], [a]):
        for t in (a, b, c):
            t.grad = None
        y = run(tensors)
        assert y.item() == 2 * sum(t.item() for t in tensors)
        if tensors:
            y.backward()
        assert [t.grad is not None for t in (a, b, c)] == [any(t is u for u in tensors) for t in (a, b, c)]


def test_under_jax_itself():
    import jax

    def f(x):
        return scan(lambda c, a: (cond(a > 0, lambda: c * a, lambda: c - a), None), funtorch.ones(()), funtorch.as_tensor(x))[0]

    x = funtorch.tensor([1.5, -2.0, 3.0])
    compiled = jax.jit(f)(x)
    assert compiled.item() == f(x).item() == 10.5


@pytest.mark.parametrize("engine", ["host", "kernel"])
def test_engines(engine):
    cell = nn.RNNCell(3, 5)
    with funtorch.set_engine(engine):
        y = recurrent(cell, funtorch.tensor(X))
        y.sum().backward()
    twice = recurrent(cell, funtorch.tensor(X))
    close(y.detach(), twice.detach())
    held = cell.weight_hh.grad.clone()
    cell.zero_grad()
    twice.sum().backward()
    close(held, cell.weight_hh.grad)


def test_only_what_depends_on_a_leaf_requires_grad():
    w, x = funtorch.tensor(2.0, requires_grad=True), funtorch.ones(3)

    def run(a, b, steps):
        def step(c, x):
            return {"a": c["a"] + (x if a is None else a), "b": c["a"] * x if b else c["b"], "n": c["n"] + 1}, c["b"]

        c, ys = scan(step, {"a": x[0], "b": x[0], "n": funtorch.tensor(0)}, x[:steps])
        return c["a"].requires_grad, c["b"].requires_grad, c["n"].requires_grad, ys.requires_grad

    for _ in range(2):
        assert run(None, True, 3) == (False, False, False, False)
        assert run(w, False, 3) == (True, False, False, False)
        assert run(w, True, 3) == (True, True, False, True)
        with funtorch.no_grad():
            assert run(w, True, 3) == (False, False, False, False)


def test_derivatives_without_grad_mode():
    w = funtorch.tensor(2.0, requires_grad=True)
    f = lambda x: scan(lambda c, a: (c * w + a, None), funtorch.zeros(()), x)[0]  # noqa: E731
    x = funtorch.ones(3)
    f(x)  # what is remembered of it is of no use below
    with funtorch.no_grad():
        value, slope = jvp(f, (x,), (x,))
        assert value.item() == slope.item() == 7.0
        assert grad(f)(x).tolist() == [4.0, 2.0, 1.0]
