"""What loops and branches refuse, and the names under which they are found."""

import importlib

import pytest
import torch as reference

import funtorch
from funtorch import nn
from funtorch.func import associative_scan, cond, fori_loop, grad, jvp, scan, switch, vmap, while_loop
from funtorch.func import map as mapped

X = funtorch.tensor([1.0, 2.0])
LAYER = nn.Linear(2, 2)
OPTIMIZER = funtorch.optim.SGD(LAYER.parameters(), lr=0.1)
SCHEDULE = funtorch.optim.lr_scheduler.StepLR(OPTIMIZER, 1)
OUTER = funtorch.zeros(3)
VIEW = OUTER[:2]
LEAF = funtorch.ones(2, requires_grad=True)
GRAPH = (LEAF * 2).sum()


def yes():
    return X.sum() > 0


REFUSED = {
    "shape": (lambda: cond(yes(), lambda: X, lambda: X[0]), RuntimeError, r"same shape but got f32\[\] from false_fn and f32\[2\]"),
    "dtype": (lambda: cond(yes(), lambda: X, lambda: X.long()), RuntimeError, "same dtype"),
    "structure": (lambda: cond(yes(), lambda: X, lambda: (X, X)), RuntimeError, "same structure"),
    "no Tensor": (lambda: cond(yes(), lambda: 1, lambda: 2), RuntimeError, "same values"),
    "pred": (lambda: cond(X > 0, lambda: X, lambda: X), RuntimeError, "single-element tensor"),
    "pred type": (lambda: cond("yes", lambda: X, lambda: X), RuntimeError, "bool or tensor, but got yes"),
    "operands": (lambda: cond(yes(), funtorch.sin, funtorch.cos, X), RuntimeError, "tuple of possibly nested"),
    "operand": (lambda: cond(yes(), lambda a: a, lambda a: a, (3,)), RuntimeError, "only consists of tensor leaves"),
    "function": (lambda: cond(yes(), X, funtorch.cos, (X,)), TypeError, "true_fn must be a function"),
    "argument": (lambda: cond(yes(), lambda a: a.add_(1), lambda a: a, (X,)), RuntimeError, "changes its argument 0"),
    "decision": (lambda: scan(lambda c, a: (c if a > 0 else -c, a), X[0], X), RuntimeError, "its value is not known"),
    "view": (lambda: cond(yes(), lambda: VIEW.add_(1) + OUTER.sum(), lambda: X), RuntimeError, "shares elements"),
    "gradient": (lambda: scan(lambda c, a: (c, (LAYER.weight * a).sum().backward()), X[0], X), RuntimeError, "weight"),
    "optimizer": (lambda: scan(lambda c, a: (OPTIMIZER.step(), (c, a))[1], X[0], X), RuntimeError, "SGD takes a step in its function"),
    "schedule": (lambda: scan(lambda c, a: (SCHEDULE.step(), (c, a))[1], X[0], X), RuntimeError, "a schedule moves on"),
    "graph": (lambda: cond(yes(), lambda: funtorch.autograd.grad(GRAPH, [LEAF])[0], lambda: X), RuntimeError, "recorded outside"),
    "switch index": (lambda: switch(X, [funtorch.sin], X), RuntimeError, "single integer"),
    "no branch": (lambda: switch(funtorch.tensor(0), [], X), RuntimeError, "at least one branch"),
    "carry dtype": (lambda: scan(lambda c, a: (c.double(), a), X[0], X), RuntimeError, r"got f64\[\] from f32\[\] in leaf 0"),
    "carry structure": (lambda: scan(lambda c, a: ((c, c), a), X[0], X), RuntimeError, "keep its structure"),
    "no pair": (lambda: scan(lambda c, a: c, X[0], X), RuntimeError, "must return a pair"),
    "step's result": (lambda: scan(lambda c, a: (c, 1), X[0], X), RuntimeError, "must be Tensors or None"),
    "init": (lambda: scan(lambda c, a: (c, a), 0.0, X), TypeError, "init must hold Tensors only, got float"),
    "xs": (lambda: scan(lambda c, a: (c, a), X[0], [1, 2]), TypeError, "xs must hold Tensors only, got int"),
    "sizes": (lambda: scan(lambda c, a: (c, a[0]), X[0], (X, OUTER)), RuntimeError, "same size along the scanned dimension"),
    "length": (lambda: scan(lambda c, a: (c, a), X[0], X, length=3), RuntimeError, "length=3"),
    "no length": (lambda: scan(lambda c, a: (c, a), X[0], None), RuntimeError, "length=..."),
    "no dimension": (lambda: scan(lambda c, a: (c, a), X[0], X[0]), RuntimeError, "a dimension to go along"),
    "dim": (lambda: scan(lambda c, a: (c, a), X[0], X, dim=2), IndexError, "out of range"),
    "map of nothing": (lambda: mapped(lambda a: a, ()), RuntimeError, "at least one Tensor"),
    "mode": (lambda: associative_scan(funtorch.add, X, 0, combine_mode="any"), ValueError, "'pointwise' or 'generic'"),
    "combine": (lambda: associative_scan(lambda a, b: a > b, X, 0), RuntimeError, r"got bool\[\] for f32\[\]"),
    "combine writes": (lambda: associative_scan(lambda a, b: a + OUTER.add_(1)[0], X, 0), RuntimeError, "must not write"),
    "test": (lambda: while_loop(lambda c: c > 0, lambda c: c, (X,)), RuntimeError, r"single-element Tensor or a bool, got bool\[2\]"),
    "while carry": (lambda: while_loop(lambda c: c > 0, lambda c: (c, c), (X[0],)), RuntimeError, "keep its structure"),
    "while inputs": (lambda: while_loop(lambda c: c > 0, lambda c: c, X), TypeError, "tuple or list"),
    "while leaf": (lambda: while_loop(lambda c: c > 0, lambda c: c, ("a",)), TypeError, "Tensors or numbers, got str"),
    "max_steps": (lambda: while_loop(lambda c: c > 0, lambda c: c, (X[0],), max_steps=-1), ValueError, "negative"),
    "fori carry": (lambda: fori_loop(0, 3, lambda i, c: c[:1], X), RuntimeError, r"fori_loop\(\): the carry must keep"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    run, kind, message = REFUSED[name]
    before = OUTER.tolist(), X.tolist()
    with pytest.raises(kind, match=message):
        run()
    assert (OUTER.tolist(), X.tolist()) == before and LAYER.weight.grad is None


def doubled(x):
    return while_loop(lambda c: c.sum() < 100, lambda c: c * 2, (x,))[0]


UNBOUNDED = {
    "backward": lambda: doubled(X.clone().requires_grad_()).sum().backward(),
    "grad": lambda: grad(lambda x: doubled(x).sum())(X),
    "vmap of grad": lambda: vmap(grad(lambda x: doubled(x).sum()))(X[None]),
    "grad of vmap": lambda: grad(lambda x: vmap(doubled)(x).sum())(X[None]),
    "grad of jvp": lambda: grad(lambda x: jvp(doubled, (x,), (x,))[1].sum())(X),
    "inside scan": lambda: grad(lambda x: scan(lambda c, a: (doubled(c * a), None), x, X)[0].sum())(X),
    "counted": lambda: grad(lambda x: fori_loop(0, funtorch.tensor(3), lambda i, c: c * 2, x).sum())(X),
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_a_loop_without_bound_has_no_gradient_and_says_so(name):
    with pytest.raises(RuntimeError, match="max_steps=N"):
        UNBOUNDED[name]()


def test_a_loop_without_bound_may_be_on_the_tape():
    x = X.clone().requires_grad_()
    assert (doubled(x) + x).detach().tolist() == [65.0, 130.0]
    (x.sum() + doubled(x).detach().sum()).backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert scan(lambda c, a: (doubled(c * a), None), x, X)[0].requires_grad


def test_max_steps_ends_a_loop():
    for most in (0, 1, 5, 7):
        found = while_loop(lambda c: c > 0, lambda c: c + 1, (funtorch.tensor(1),), max_steps=most)[0]
        assert found.item() == 1 + most


def test_a_python_pred_calls_one_branch():
    called = []
    branch = lambda name: lambda x: called.append(name) or x.item()  # noqa: E731
    assert cond(True, branch("true"), branch("false"), (X[0],)) == 1.0
    assert cond(0, branch("true"), branch("false"), [X[1]]) == 2.0
    assert called == ["true", "false"]


def test_in_torch_too():
    """Names, argument orders and results are PyTorch's."""
    for torch in (reference, funtorch):
        x = torch.arange(6.0).reshape(2, 3)
        for name in ("cond", "while_loop", "scan", "associative_scan", "map"):
            module = importlib.import_module(f"{torch.__name__}._higher_order_ops.{name}")
            assert callable(getattr(module, name)) and callable(getattr(torch._higher_order_ops, name))
        found = torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))
        assert found.tolist() == x.sin().tolist()
    assert funtorch.while_loop is funtorch.func.while_loop is funtorch._higher_order_ops.while_loop


def test_scan_and_map_and_loops_are_torchs():
    from torch._higher_order_ops import associative_scan as their_associative
    from torch._higher_order_ops import map as their_map
    from torch._higher_order_ops import scan as their_scan
    from torch._higher_order_ops import while_loop as their_while

    theirs, ours = [], []
    for m, found, functions in (
        (reference, theirs, (their_scan, their_map, their_while, their_associative)),
        (funtorch, ours, (scan, mapped, while_loop, associative_scan)),
    ):
        scan_, map_, while_, associative_ = functions
        x = m.arange(6.0).reshape(2, 3)
        for reverse in (False, True):
            carry, ys = scan_(lambda c, x: (c + x, c * x), m.zeros(2), x, dim=1, reverse=reverse)
            found += [carry, ys, associative_(lambda a, b: a + b, x, 1, reverse=reverse, combine_mode="generic")]
        found += [
            map_(lambda x, y: x * y, x, m.ones(3)),
            *while_(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (m.tensor(0), x)),
        ]
    assert [z.tolist() for z in ours] == [z.tolist() for z in theirs]
    assert [str(z.dtype) for z in ours] == [str(z.dtype) for z in theirs]


def test_a_loop_that_comes_back_is_one_op():
    from funtorch.transforms.control_flow import fingerprints

    def run(scale, x):
        return scan(lambda c, a: (funtorch.relu(c * scale + a), c), funtorch.zeros(()), x)[0]

    run(funtorch.tensor(2.0), X)
    before = len(fingerprints._ops)
    for scale in (3.0, 4.0):
        run(funtorch.tensor(scale), X)
    assert len(fingerprints._ops) == before
    scan(lambda c, a: (funtorch.relu(c * 5.0 + a), c), funtorch.zeros(()), X)
    assert len(fingerprints._ops) == before + 1


def test_rules_that_differ_make_ops_that_differ():
    """Functions whose values agree and whose derivatives do not are not taken for each other."""

    def scaled(k):
        class Scaled(funtorch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, g):
                return k * g

        return grad(lambda x: scan(lambda c, a: (c + Scaled.apply(a), None), funtorch.zeros(()), x)[0])(X).tolist()

    assert [scaled(2), scaled(3)] == [[2.0, 2.0], [3.0, 3.0]]
