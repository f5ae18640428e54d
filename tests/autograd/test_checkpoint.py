"""utils.checkpoint: the same values and gradients with less kept, the same random numbers, nothing done twice outside."""

import gc
import importlib
import warnings
import weakref

import pytest
import torch as reference
import torch.utils.checkpoint
from same import compare, plain

import funtorch
from funtorch.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential

func = funtorch.func
D = funtorch.float64
W = [[0.3, -0.2], [0.1, 0.7]]
XS = [[0.3, 0.5], [-0.1, 0.2], [1.0, 2.0]]


def both(program):
    """The same program over (module, its checkpoint) for torch and funtorch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = program(reference, reference.utils.checkpoint.checkpoint)
    compare(plain(expected), plain(program(funtorch, checkpoint)))


@pytest.mark.parametrize("reentrant", [False, True])
def test_gradients_of_arguments_and_of_what_is_captured(reentrant):
    def program(m, checkpoint):
        w = m.tensor(W, dtype=m.float64, requires_grad=True)
        x = m.tensor(XS, dtype=m.float64, requires_grad=True)
        inner = w * 2  # a captured result that isn't a leaf

        def f(x, scale, *, shift):
            return (x @ inner).tanh() * scale + shift, x.sum(), "text"

        if reentrant and m is reference:
            y, s, t = f(x, 3.0, shift=1.0)
        else:
            y, s, t = checkpoint(f, x, 3.0, shift=1.0, use_reentrant=reentrant)
        (y.sum() + s).backward()
        return x.grad, w.grad, t, y

    both(program)


def test_outputs_that_need_no_gradient():
    def program(m, checkpoint):
        x = m.ones(3, requires_grad=True)
        a, b, c = checkpoint(lambda x: (x * 2, (x > 0), x.detach() + 1), x, use_reentrant=False)
        d = checkpoint(lambda x: x * 2, m.ones(2), use_reentrant=False)
        with m.no_grad():
            e = checkpoint(lambda x: x * 2, x, use_reentrant=False)
        return [t.requires_grad for t in (a, b, c, d, e)]

    both(program)


def test_random_numbers_are_drawn_again():
    def program(m, checkpoint):
        m.manual_seed(3)
        x = m.ones(4, requires_grad=True)
        y = checkpoint(lambda x: x * m.rand(4) + m.randn(4) * x, x, use_reentrant=False)
        between = m.rand(1)
        y.sum().backward()
        return y, x.grad, between, m.rand(1)

    both(program)


def test_nested_checkpoints():
    def program(m, checkpoint):
        w = m.tensor(W, dtype=m.float64, requires_grad=True)
        x = m.tensor(XS, dtype=m.float64, requires_grad=True)

        def inner(x):
            return (x @ w).sin()

        def outer(x):
            return checkpoint(inner, x, use_reentrant=False) * checkpoint(inner, x * 2, use_reentrant=False)

        y = checkpoint(outer, x, use_reentrant=False)
        (g,) = m.autograd.grad(y.sum(), x, create_graph=True)
        (g * g).sum().backward()
        return g, x.grad, w.grad

    both(program)


def test_in_parts():
    def program(m, _):
        sequential = m.utils.checkpoint.checkpoint_sequential if m is reference else checkpoint_sequential
        x = m.tensor([0.3, 0.4], dtype=m.float64, requires_grad=True)
        calls = []

        def part(k):
            return lambda x: calls.append(k) or (x * k).sin()

        y = sequential([part(k) for k in range(1, 6)], 2, x, use_reentrant=False)
        forward = list(calls)
        y.sum().backward()
        return y, x.grad, forward, calls

    both(program)


def leaves():
    return funtorch.tensor(W, dtype=D, requires_grad=True), funtorch.tensor(XS, dtype=D)


CASES = {
    "grad": lambda f, xs: func.grad(f)(xs[0]),
    "vmap": lambda f, xs: func.vmap(f)(xs),
    "vmap grad": lambda f, xs: func.vmap(func.grad(f))(xs),
    "jvp": lambda f, xs: func.jvp(f, (xs[0],), (xs[1],))[1],
    "jvp grad": lambda f, xs: func.jvp(func.grad(f), (xs[0],), (xs[1],))[1],
    "vmap hessian": lambda f, xs: func.vmap(func.hessian(f))(xs),
    "jacrev jacfwd": lambda f, xs: func.jacrev(func.jacfwd(f))(xs[0]),
    "compiled": lambda f, xs: [funtorch.compile(func.grad(f))(xs[0]) for _ in range(1)][0],
}


@pytest.mark.parametrize("case", CASES)
def test_parameters_in_closures_get_gradients_through_every_transform(case):
    found = []
    for wrap in (lambda f: f, lambda f: lambda x: checkpoint(f, x, use_reentrant=False)):
        w, xs = leaves()
        result = CASES[case](wrap(lambda x: funtorch.tanh(x @ w).sum()), xs)  # noqa: B023
        found.append((result.tolist(), funtorch.autograd.grad((result**2).sum(), w)[0].tolist()))
    for a, b in zip(*found, strict=True):
        assert funtorch.allclose(funtorch.tensor(a, dtype=D), funtorch.tensor(b, dtype=D))


def test_a_captured_tensor_of_an_outer_transform():
    w, xs = leaves()

    def slope(w, wrap):
        return func.grad(lambda x: wrap(lambda x: funtorch.tanh(x @ w).sum())(x))(xs[0])

    kept, again = (lambda f: f), (lambda f: lambda x: checkpoint(f, x, use_reentrant=False))
    ways = (
        lambda g: func.vmap(g)(funtorch.stack([w, 2 * w])),
        lambda g: func.jvp(g, (w,), (w * 2,))[1],
        lambda g: func.jacrev(g)(w),
    )
    for way in ways:
        assert funtorch.allclose(way(lambda w: slope(w, kept)), way(lambda w: slope(w, again)))


def test_what_it_saves():
    gc.collect()
    inside = []

    def f(x):
        h = x.exp()
        inside.append(weakref.ref(h))
        return h.sin()

    x = funtorch.ones(3, requires_grad=True)
    y = checkpoint(f, x, use_reentrant=False)
    assert inside[0]() is None and len(inside) == 1
    y.sum().backward()
    assert len(inside) == 2 and inside[1]() is None


def test_writes_outside_happen_once():
    counter, x = funtorch.zeros(()), funtorch.ones(3, requires_grad=True)
    other = funtorch.ones(2, requires_grad=True)

    def f(x):
        counter.add_(1)
        (other * 2).sum().backward()
        return (x * counter).sum()

    y = checkpoint(f, x, use_reentrant=False)
    y.backward()
    assert counter.item() == 1 and other.grad.tolist() == [2.0, 2.0] and x.grad.tolist() == [1.0] * 3


def test_modules_and_containers_as_arguments_stay_what_they_are():
    def program(m, checkpoint):
        net = m.nn.Sequential(m.nn.Linear(2, 2), m.nn.BatchNorm1d(2)).double()
        with m.no_grad():
            net[0].weight.copy_(m.tensor(W))
            net[0].bias.fill_(0.1)
        x, seen = m.tensor(XS, dtype=m.float64, requires_grad=True), []

        def f(net, x, seen, *, options):
            seen.append(options["name"])
            return net(x).tanh() * options["scale"][0]

        y = checkpoint(f, net, x, seen, options={"name": "a", "scale": [m.full((), 2.0)]}, use_reentrant=False)
        before = seen[:], net[1].running_mean.clone(), net[1].num_batches_tracked.clone()
        y.sum().backward()
        return before, x.grad, [p.grad for p in net.parameters()], seen[1:]

    both(program)


def test_it_runs_again_with_the_values_of_then():
    scale, x = funtorch.full((), 3.0), funtorch.ones(2, requires_grad=True)
    h = x * 1
    y = checkpoint(lambda h: (h * h * scale).sum(), h, use_reentrant=False)
    scale.fill_(100.0)
    h.data.fill_(50.0)
    y.backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_contexts_around_both_runs():
    log = []

    class Note:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            log.append(self.name)

        def __exit__(self, *exc):
            pass

    x = funtorch.ones(2, requires_grad=True)
    y = checkpoint(lambda x: (x * x).sum(), x, use_reentrant=False, context_fn=lambda: (Note("first"), Note("again")))
    assert log == ["first"]
    y.backward()
    assert log == ["first", "again"]


def test_what_it_refuses():
    x = funtorch.ones(2, requires_grad=True)
    sizes = iter([2, 1, 2, 1])
    y = checkpoint(lambda x: x[: next(sizes)] * 2, x, use_reentrant=False)
    with pytest.raises(CheckpointError, match="different metadata"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="argument 0 of shape .2. in place"):
        checkpoint(lambda h: h.add_(1), x * 1, use_reentrant=False)
    with pytest.warns(UserWarning, match="use_reentrant"):
        checkpoint(lambda x: x * 2, x)
    with pytest.raises(TypeError, match="expected a function"):
        checkpoint(3, x, use_reentrant=False)
    with pytest.raises(ValueError, match="determinism_check"):
        checkpoint(lambda x: x, x, use_reentrant=False, determinism_check="strict")
    with pytest.raises(KeyError):
        checkpoint(lambda x: {}["a"], x, use_reentrant=False)
    assert funtorch.is_grad_enabled() and (x * 2).sum().requires_grad


def test_inside_a_compiled_step():
    w = funtorch.tensor(W, dtype=D, requires_grad=True)

    def step(x, wrap):
        w.grad = None
        loss = wrap(lambda x: (x @ w * funtorch.rand(2, dtype=D)).tanh().sum())(x)
        loss.backward()
        with funtorch.no_grad():
            w.sub_(0.1 * w.grad)
        return loss

    kept, again = (lambda f: f), (lambda f: lambda x: checkpoint(f, x, use_reentrant=False))
    found = []
    for run in (lambda x: step(x, kept), funtorch.compile(lambda x: step(x, again))):
        with funtorch.no_grad():
            w.copy_(funtorch.tensor(W, dtype=D))
        funtorch.manual_seed(1)
        found.append([run(funtorch.tensor(XS, dtype=D)).item() for _ in range(5)])
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def _counted(policy, monkeypatch, x, wrap=lambda f: f):
    """How often `sin` and `exp` are computed in a checkpoint's forward and backward, and the gradient."""
    import functools

    from funtorch.core import call as calls
    from funtorch.core import engine
    from funtorch.utils.checkpoint import create_selective_checkpoint_contexts

    seen = []
    run = engine.run
    monkeypatch.setattr(calls, "run", lambda op, *rest: (seen.append(op.name), run(op, *rest))[1])
    keep = functools.partial(create_selective_checkpoint_contexts, policy)

    def part(x):
        return (x.sin().exp() * x.sin()).sum()

    y = funtorch.utils.checkpoint.checkpoint(part, x, use_reentrant=False, context_fn=keep)
    y.backward()
    return seen.count("sin"), seen.count("exp"), x.grad


@pytest.mark.parametrize("kind", ["names", "policy", "bool", "none"])
def test_a_policy_says_what_is_kept(kind, monkeypatch):
    from funtorch.utils.checkpoint import CheckpointPolicy, SelectiveCheckpointContext

    def policy(context, op, *args):
        assert isinstance(context, SelectiveCheckpointContext)
        return CheckpointPolicy.MUST_SAVE if op.name == "sin" else CheckpointPolicy.PREFER_RECOMPUTE

    given = {"names": ["sin"], "policy": policy, "bool": lambda c, op, *a: op.name == "sin", "none": []}[kind]
    x = funtorch.randn(700, 700, requires_grad=True)  # large: each op goes through the engine
    sines, exponentials, grad = _counted(given, monkeypatch, x)
    assert (sines, exponentials) == ((2, 2) if kind != "none" else (4, 2))
    d = x.detach()
    assert funtorch.allclose(grad, d.sin().exp() * d.cos() * (d.sin() + 1), atol=1e-5)


def test_policies_under_transforms_and_in_sequences():
    import functools

    from funtorch.utils.checkpoint import checkpoint, checkpoint_sequential, create_selective_checkpoint_contexts

    keep = functools.partial(create_selective_checkpoint_contexts, ["sin", "exp"])

    def f(x):
        return checkpoint(lambda x: x.sin().exp().sum(), x, use_reentrant=False, context_fn=keep)

    x = funtorch.randn(3, 4)
    want = x.sin().exp() * x.cos()
    assert funtorch.allclose(funtorch.vmap(funtorch.func.grad(f))(x), want)
    assert funtorch.allclose(funtorch.func.hessian(f)(x[0]).diagonal(), want[0] * x[0].cos() - x[0].sin().exp() * x[0].sin())
    y = x.clone().requires_grad_()
    checkpoint_sequential([funtorch.sin, funtorch.exp], 2, y, use_reentrant=False, context_fn=keep).sum().backward()
    assert funtorch.allclose(y.grad, want)
    y = x.clone().requires_grad_()
    total = f(y)
    for times in (1, 2):  # a graph that is walked twice is given the same again
        total.backward(retain_graph=True)
        assert funtorch.allclose(y.grad, times * want)
    with pytest.raises(TypeError, match="must be a function or a list of ops, not int"):
        create_selective_checkpoint_contexts(3)


@pytest.mark.parametrize("lib", [torch, funtorch], ids=["torch", "funtorch"])
def test_pieces_for_checkpoints_of_ones_own(lib):
    pieces = importlib.import_module(f"{lib.__name__}.utils.checkpoint")
    x, number = lib.ones(2, requires_grad=True) * 2, 3
    leaf, same = pieces.detach_variable((x, number))
    assert leaf.is_leaf and leaf.requires_grad and leaf.tolist() == [2, 2] and same is number
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported"):
        pieces.detach_variable([x])
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        pieces.check_backward_validity([lib.ones(1), 3])
    devices, states = pieces.get_device_states(x)
    pieces.set_device_states(devices, states)
    assert devices == states == []
    with pieces.set_checkpoint_early_stop(False):
        z = pieces.checkpoint(lambda y: y.sin(), x, use_reentrant=False)
    z.sum().backward()
    pieces.DefaultDeviceType.set_device_type("cpu")
    assert pieces.DefaultDeviceType.get_device_type() == "cpu"
    pieces.DefaultDeviceType.set_device_type("cuda")
