"""compile: six calls of a step, eager and compiled, leave the same behind, whatever changes in between."""

import gc
import itertools
import weakref

import jax.numpy as jnp
import numpy as np
import pytest

import funtorch
from funtorch import nn

D = funtorch.float64


class Net(nn.Module):
    def __init__(self, norm=False, drop=0.0):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4) if norm else nn.Identity()
        self.drop = nn.Dropout(drop)
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.drop(self.norm(self.first(x).tanh())))


def batches(count=6):
    random = np.random.RandomState(0)
    return [(funtorch.tensor(random.randn(5, 3)), funtorch.tensor(random.randint(0, 2, 5))) for _ in range(count)]


def numbers(module, optimizer=None):
    state = {k: v.tolist() for k, v in module.state_dict().items()}
    slots = (
        []
        if optimizer is None
        else [
            {k: v.tolist() if hasattr(v, "tolist") else v for k, v in s.items()} for s in optimizer.state_dict()["state"].values()
        ]
    )
    return state, slots


def close(a, b):
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for k in a:
            close(a[k], b[k])
    elif isinstance(a, (list, tuple)) and a and isinstance(a[0], (dict, list, tuple)) and not isinstance(a[0], float):
        assert len(a) == len(b)
        for p, q in zip(a, b, strict=True):
            close(p, q)
    else:
        np.testing.assert_allclose(np.asarray(b, np.float64), np.asarray(a, np.float64), rtol=1e-9, atol=1e-11)


OPTIMIZERS = {
    "sgd": lambda ps: funtorch.optim.SGD(ps, lr=0.1),
    "momentum": lambda ps: funtorch.optim.SGD(ps, lr=0.1, momentum=0.9, weight_decay=0.01),
    "adam": lambda ps: funtorch.optim.Adam(ps, lr=0.01),
    "adamw": lambda ps: funtorch.optim.AdamW(ps, lr=0.01),
}


def train(compiled, make_net=Net, optimizer="sgd", between=lambda i, net, opt: None, set_to_none=True):
    funtorch.manual_seed(0)
    net = make_net().double()
    opt = OPTIMIZERS[optimizer](net.parameters())

    def step(x, y):
        opt.zero_grad(set_to_none=set_to_none)
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        return loss

    run = funtorch.compile(step) if compiled else step
    losses = []
    for i, (x, y) in enumerate(batches()):
        losses.append(run(x, y).item())
        between(i, net, opt)
    if compiled:
        assert run.counts["compiled"] >= 2, funtorch.compiler.explain(run)
    return losses, numbers(net, opt), funtorch.rand(1).item()


def same_training(**options):
    for a, b in zip(train(False, **options), train(True, **options), strict=True):
        close(a, b)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_steps(optimizer):
    same_training(optimizer=optimizer)


def test_gradients_zeroed_in_place():
    same_training(set_to_none=False, optimizer="momentum")


def test_a_learning_rate_changed_between_calls():
    def between(i, net, opt):
        opt.param_groups[0]["lr"] = 0.1 / (i + 1)

    same_training(between=between, optimizer="momentum")
    same_training(between=between, optimizer="adam")


def test_dropout_draws_what_eager_code_draws():
    same_training(make_net=lambda: Net(drop=0.5))


def test_batch_norm_statistics_move():
    same_training(make_net=lambda: Net(norm=True))


def test_training_flag_flipped_between_calls():
    def between(i, net, opt):
        net.train(i % 3 != 1)

    funtorch_net = lambda: Net(norm=True, drop=0.3)  # noqa: E731
    results = []
    for compiled in (False, True):
        funtorch.manual_seed(0)
        net = funtorch_net().double()
        run = funtorch.compile(lambda x: net(x).sum()) if compiled else (lambda x: net(x).sum())  # noqa: B023
        found = []
        for i in range(12):
            found.append(run(batches(1)[0][0]).item())
            between(i, net, None)
        results.append((found, numbers(net)))
    close(results[0][0], results[1][0])
    close(results[0][1], results[1][1])


def test_parameters_changed_from_outside_between_calls():
    def between(i, net, opt):
        if i == 3:
            net.first.weight.data.mul_(0.5)
        if i == 4:
            with funtorch.no_grad():
                net.last.bias.copy_(funtorch.ones(2))
            net.first.bias.data = net.first.bias.data * 2

    same_training(between=between)


def test_a_state_dict_loaded_between_calls():
    kept = {}

    def between(i, net, opt):
        if i == 1:
            kept["net"], kept["opt"] = {k: v.clone() for k, v in net.state_dict().items()}, opt.state_dict()
        if i == 4:
            net.load_state_dict(kept["net"])

    same_training(between=between)


def check_calls(function, calls, compiled_at_least=1, make=lambda: None):
    """``function(state)`` gives a function; the same calls of it, eager and compiled."""
    results = []
    for compiled in (False, True):
        state = make()
        f = function(state)
        run = funtorch.compile(f) if compiled else f
        funtorch.manual_seed(1)
        found = []
        for args in calls:
            args = [funtorch.tensor(a, dtype=D) if isinstance(a, (float, list)) else a for a in args]
            out = run(*args)
            found.append(
                [o.tolist() if isinstance(o, funtorch.Tensor) else o for o in (out if isinstance(out, (tuple, list)) else [out])]
            )
        if compiled:
            assert run.counts["compiled"] >= compiled_at_least, funtorch.compiler.explain(run)
        results.append((found, state))
    assert len(results[0][0]) == len(results[1][0])
    for a, b in zip(results[0][0], results[1][0], strict=True):
        close(a, b)
    return results


def test_decisions():
    def f(_):
        def run(x):
            if x.sum() > 1:
                return x * 2
            n = 0
            while (x.abs() > 0.1).any():
                x = x / 2
                n += 1
            return x + int(x.numel()), n

        return run

    calls = [([0.5],), ([0.4],), ([0.45],), ([3.0],), ([4.0],), ([5.0],), ([0.5],), ([9.0],), ([0.05],), ([0.5],)]
    check_calls(f, calls, 3)


def test_a_decision_that_comes_out_otherwise_changes_nothing_twice():
    def make():
        return {"count": funtorch.zeros((), dtype=D)}

    def f(state):
        def run(x):
            state["count"].add_(1)
            if x > 0:
                state["count"].mul_(2)
            return x * funtorch.rand((), dtype=D) + state["count"]

        return run

    check_calls(f, [(v,) for v in (1.0, 2.0, 3.0, -1.0, -2.0, -3.0, 4.0, -4.0)], 2, make)


def test_the_same_tensor_twice():
    def f(x, y):
        return x * y + x, x is y

    run = funtorch.compile(f)
    a, b = funtorch.tensor([2.0]), funtorch.tensor([3.0])
    for _ in range(4):
        assert [o.tolist() if hasattr(o, "tolist") else o for o in run(a, a)] == [[6.0], True]
        assert [o.tolist() if hasattr(o, "tolist") else o for o in run(a, b)] == [[8.0], False]


def test_the_same_tensor_twice_and_written():
    def make():
        return None

    def f(_):
        def run(x, y):
            x.add_(1)
            return x * y

        return run

    for compiled in (False, True):
        run = funtorch.compile(f(None)) if compiled else f(None)
        a, b = funtorch.tensor([1.0]), funtorch.tensor([10.0])
        found = [run(a, a).item() for _ in range(3)] + [run(a, b).item() for _ in range(3)]
        assert found == [4.0, 9.0, 16.0, 50.0, 60.0, 70.0] and a.item() == 7.0 and b.item() == 10.0


def test_a_tensor_that_is_argument_and_closure_at_once():
    w = funtorch.tensor([2.0])
    run = funtorch.compile(lambda x: x * w)
    for _ in range(4):
        assert run(w).item() == 4.0
    for v in (3.0, 5.0, 7.0, 9.0):
        assert run(funtorch.tensor([v])).item() == 2 * v
        assert run(w).item() == 4.0


def test_gradients_of_arguments():
    def step(x):
        (x * x).sum().backward()
        return x.grad * 1

    run = funtorch.compile(step)
    for i in range(6):
        x = funtorch.tensor([1.0, float(i)], requires_grad=True)
        assert run(x).tolist() == [2.0, 2.0 * i] == x.grad.tolist()
        assert run(x).tolist() == [4.0, 4.0 * i] == x.grad.tolist()
    assert run.counts["compiled"] >= 6


def test_results_of_earlier_calls_stay():
    state = funtorch.zeros(2)

    def f(x):
        state.add_(x)
        return state * 1, state

    run = funtorch.compile(f)
    kept = [run(funtorch.ones(2))[0] for _ in range(6)]
    assert [k.tolist() for k in kept] == [[i, i] for i in range((1.0).__int__(), 7)]
    assert run(funtorch.ones(2))[1] is state
    alias = state.detach()
    run(funtorch.ones(2))
    assert alias.tolist() == [8.0, 8.0] == state.tolist()


def test_payloads_held_by_others_survive_donation():
    w = funtorch.ones(3, requires_grad=True)
    opt = funtorch.optim.SGD([w], lr=0.1, momentum=0.9)

    def step(x):
        opt.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        opt.step()
        return loss

    run = funtorch.compile(step)
    kept, grads = [], []
    for _ in range(6):
        kept.append(w.detach().clone())
        run(funtorch.ones(3))
        grads.append(w.grad)
        kept.append(jnp.asarray(w.detach()))
    assert all(np.isfinite(np.asarray(k)).all() for k in kept)
    assert all(g.tolist() == [1.0] * 3 for g in grads)
    expected, velocity = [np.ones(3)], 0.0
    for _ in range(6):
        velocity = 0.9 * velocity + 1
        expected.append(expected[-1] - 0.1 * velocity)
    np.testing.assert_allclose([np.asarray(k) for k in kept[1::2]], expected[1:], rtol=1e-5)


def test_values_stored_by_compiled_code_are_ordinary():
    kept = []

    def f(x):
        y = x * 2
        kept.append(y)
        return y.sum()

    run = funtorch.compile(f)
    with pytest.warns(UserWarning, match="stays eager"):
        for v in range(8):
            run(funtorch.full((2,), float(v)))
    assert [k.tolist() for k in kept] == [[2.0 * v] * 2 for v in range(8)]
    with pytest.raises(RuntimeError, match="fullgraph"):
        whole = funtorch.compile(f, fullgraph=True)
        for v in range(8):
            whole(funtorch.full((2,), float(v)))


def test_an_exception_in_the_middle_of_a_step():
    w = funtorch.zeros(2, dtype=D)

    def f(x, fail):
        w.add_(x)
        if fail:
            raise KeyError("stop")
        return w * 2

    run = funtorch.compile(f)
    expected = np.zeros(2)
    for i, fail in enumerate([False, True, False, False, True, False, False]):
        x = funtorch.full((2,), float(i), dtype=D)
        if fail:
            with pytest.raises(KeyError):
                run(x, fail)
            expected += i
        else:
            expected += i
            assert run(x, fail).tolist() == (2 * expected).tolist()
    assert w.tolist() == expected.tolist()
    from funtorch.core.state import state

    assert state.recorder is None


def test_a_shape_error_in_compiled_code_and_then_a_good_call():
    run = funtorch.compile(lambda x, y: x @ y)
    a = funtorch.ones(2, 3)
    for _ in range(4):
        assert run(a, funtorch.ones(3)).tolist() == [3.0, 3.0]
        with pytest.raises(RuntimeError):
            run(a, funtorch.ones(4))


def test_closures_and_argument_structures():
    scale = funtorch.tensor(2.0)

    def f(pair, *, options, name="n"):
        x, (y, k) = pair
        return {"z": x * y * scale * k, "name": name, "list": [options["b"], x]}

    run = funtorch.compile(f)
    x, y, b = funtorch.ones(2), funtorch.full((2,), 3.0), funtorch.zeros(1)
    for k in (1, 1, 1, 2, 2, 2, 1):
        out = run((x, (y, k)), options={"b": b})
        assert list(out) == ["z", "name", "list"] and out["z"].tolist() == [6.0 * k] * 2
        assert out["list"][0] is b and out["list"][1] is x and out["name"] == "n"
    scale.fill_(5.0)
    assert run((x, (y, 1)), options={"b": b})["z"].tolist() == [15.0, 15.0]
    assert run([x, (y, 1)], options={"b": b})["z"].tolist() == [15.0, 15.0]


def test_compiled_inside_compiled_and_inside_transforms():
    inner = funtorch.compile(lambda x: x.sin() * 2)
    outer = funtorch.compile(lambda x: inner(x).sum() + inner(x * 2).sum())
    x = funtorch.tensor([0.3, 0.4], dtype=D)
    expected = 2 * (np.sin(x.numpy()) + np.sin(2 * x.numpy())).sum()
    for _ in range(4):
        assert outer(x).item() == pytest.approx(expected)
    g = funtorch.func.grad(outer)(x)
    np.testing.assert_allclose(g.numpy(), 2 * np.cos(x.numpy()) + 4 * np.cos(2 * x.numpy()))
    run = funtorch.compile(funtorch.func.vmap(funtorch.func.grad(inner)))
    for _ in range(4):
        np.testing.assert_allclose(run(x).numpy(), 2 * np.cos(x.numpy()))


def test_gradients_through_a_compiled_forward():
    w = funtorch.tensor([0.5, -0.3], dtype=D, requires_grad=True)

    def f(x):
        with funtorch.no_grad():
            c = (w**2).sum()
        return (x * w).tanh().sum() * c + (w.detach() * x).sum()

    run = funtorch.compile(f)
    for i in range(6):
        grads = []
        for g in (f, run):
            x = funtorch.tensor([1.0, i], dtype=D, requires_grad=True)
            w.grad = None
            y = g(x)
            (first,) = funtorch.autograd.grad(y, x, create_graph=True)
            (first.sum() + y).backward()
            grads.append([x.grad.tolist(), w.grad.tolist(), first.tolist()])
        close(*grads)
    assert run.counts["compiled"] >= 3


def test_modes_belong_to_the_call():
    w = funtorch.ones(2, requires_grad=True)
    run = funtorch.compile(lambda x: x * w)
    for _ in range(4):
        assert run(funtorch.ones(2)).requires_grad
        with funtorch.no_grad():
            assert not run(funtorch.ones(2)).requires_grad
        x = funtorch.ones(2, requires_grad=True)
        (g,) = funtorch.autograd.grad(run(x).sum(), x)
        assert g.tolist() == [1.0, 1.0]


def test_views_and_writes_of_arguments():
    def f(x, i):
        x[0].mul_(2)
        x.t()[1].add_(i)
        return x.sum()

    run = funtorch.compile(f)
    for i in range(5):
        a, b = funtorch.ones(2, 2), funtorch.ones(2, 2)
        assert f(a, funtorch.tensor(float(i))).item() == run(b, funtorch.tensor(float(i))).item()
        assert a.tolist() == b.tolist()
    assert run.counts["compiled"] >= 2


@pytest.mark.filterwarnings("ignore:.*stays eager.*view of a Tensor from outside")
def test_a_view_of_an_argument_as_a_result_goes_on_being_one():
    run = funtorch.compile(lambda x: x.t())
    for _ in range(5):
        x = funtorch.ones(2, 2)
        run(x)[0].zero_()
        assert x.tolist() == [[0.0, 1.0], [0.0, 1.0]]


def test_shapes_and_dtypes_make_programs_of_their_own():
    run = funtorch.compile(lambda x: x.sum(-1) * x.shape[0])
    for _ in range(3):
        for n in (1, 2, 3):
            assert run(funtorch.ones(n, 2)).tolist() == [2.0 * n] * n
        assert run(funtorch.ones(2, 2, dtype=funtorch.int64)).dtype == funtorch.int64


def test_random_numbers_move_and_repeat():
    run = funtorch.compile(lambda x: x + funtorch.rand(2, dtype=D))
    eager = lambda x: x + funtorch.rand(2, dtype=D)  # noqa: E731
    for seed in (0, 1):
        funtorch.manual_seed(seed)
        a = [run(funtorch.zeros(2, dtype=D)).tolist() for _ in range(5)] + [funtorch.rand(1).item()]
        funtorch.manual_seed(seed)
        b = [eager(funtorch.zeros(2, dtype=D)).tolist() for _ in range(5)] + [funtorch.rand(1).item()]
        assert a == b


def test_a_function_with_its_own_gradient_in_a_compiled_step():
    class Round(funtorch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, g):
            return g

    def train(compiled):
        w = funtorch.tensor([0.6, 1.7], dtype=D, requires_grad=True)

        def step(x):
            w.grad = None
            loss = ((Round.apply(w) * x).sum() - 1) ** 2
            loss.backward()
            with funtorch.no_grad():
                w.sub_(0.01 * w.grad)
            return loss

        run = funtorch.compile(step) if compiled else step
        return [run(funtorch.tensor([1.0, 2.0], dtype=D)).item() for _ in range(6)], w.tolist()

    close(train(False), train(True))


def test_hooks_and_retained_gradients_inside():
    w = funtorch.tensor([0.6, 1.7], dtype=D, requires_grad=True)

    def step(x):
        w.grad = None
        h = w * x
        h.register_hook(lambda g: g * 2)
        h.retain_grad()
        h.sin().sum().backward()
        return h.grad, w.grad * 1

    run = funtorch.compile(step)
    x = funtorch.tensor([1.0, 2.0], dtype=D)
    for _ in range(5):
        close([t.tolist() for t in step(x)], [t.tolist() for t in run(x)])


def test_arguments_of_compiled_calls_are_let_go():
    run = funtorch.compile(lambda x: (x * 2, x.sum()))
    for _ in range(3):
        run(funtorch.ones(3))
    x = funtorch.ones(3)
    given = weakref.ref(x)
    run(x)
    assert run.counts["compiled"] >= 2
    del x
    gc.collect()
    assert given() is None


def test_verified_calls():
    w = funtorch.tensor([0.6, 1.7], dtype=D, requires_grad=True)
    optimizer = funtorch.optim.SGD([w], lr=0.1, momentum=0.9)
    runs = itertools.count()

    def step(x):
        next(runs)
        optimizer.zero_grad()
        loss = (w * x * funtorch.rand(2, dtype=D)).sum()
        loss.backward()
        optimizer.step()
        return loss

    def train(run):
        funtorch.manual_seed(0)
        with funtorch.no_grad():
            w.fill_(1.0)
        optimizer.state.clear()
        return [run(funtorch.tensor([1.0, i], dtype=D)).item() for i in range(7)], w.tolist(), funtorch.rand(1).item()

    expected = train(step)
    before = next(runs)
    run = funtorch.compile(step, verify=2)
    close(expected, train(run))
    assert run.verify == 0 and run.counts["compiled"] >= 4 and next(runs) - before - 1 == 7 - run.counts["compiled"] + 1 + 2


def test_a_verified_call_that_differs_is_refused(monkeypatch):
    from funtorch.transforms import variants

    run = funtorch.compile(lambda x: x * 2, verify=1)
    for i in range(2):
        run(funtorch.tensor([float(i)]))
    plain = variants.Variant.__call__
    monkeypatch.setattr(variants.Variant, "__call__", lambda self, tensors: plain(self, tensors) + 1)
    with pytest.raises(RuntimeError, match="result 0 is .6.. in eager code and .7.. in compiled"):
        run(funtorch.tensor([3.0]))


def test_misuse():
    with pytest.raises(TypeError, match="expected a function"):
        funtorch.compile(3)
    with pytest.raises(TypeError, match="compiled function"):
        funtorch.compiler.explain(3)
