"""What leaves a transform by another way than its result, and what is left when one fails."""

import pytest

import funtorch
from funtorch.errors import EscapedTensorError

func = funtorch.func


def unaffected():
    """Unrelated work, and the same transforms again."""
    x = funtorch.tensor([3.0, 4.0])
    assert funtorch.is_grad_enabled() and not funtorch.is_inference_mode_enabled()
    assert func.grad(lambda x: (x**2).sum())(x).tolist() == [6.0, 8.0]
    assert func.vmap(func.grad(lambda x: x**2))(x).tolist() == [6.0, 8.0]
    assert func.jvp(lambda x: x**2, (x,), (x,))[1].tolist() == [18.0, 32.0]
    w = funtorch.ones(2, requires_grad=True)
    (w * 3).sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]


WAYS = {
    "vmap": lambda f: func.vmap(f)(funtorch.ones(3, 2)),
    "jvp": lambda f: func.jvp(f, (funtorch.ones(2),), (funtorch.ones(2),)),
    "jacfwd": lambda f: func.jacfwd(f)(funtorch.ones(2)),
    "vmap in vmap": lambda f: func.vmap(func.vmap(f))(funtorch.ones(2, 3, 2)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_tensor_of_a_level_says_where_it_came_from(way):
    kept = []

    def f(x):
        kept.append(x * 2)
        kept.append(kept[0][0])
        return x.sum()

    WAYS[way](f)
    for tensor in kept[:2]:
        for use in (
            lambda t: t + 1,
            lambda t: t.tolist(),
            lambda t: funtorch.stack([t, t]),
            lambda t: func.vmap(lambda x: x)(t[None]),
        ):
            with pytest.raises(EscapedTensorError, match=f"made inside {'jvp' if 'j' in way else 'vmap'}.*after") as error:
                use(tensor)
            assert isinstance(error.value, RuntimeError)
    assert "shape [2]" in str(pytest.raises(EscapedTensorError, lambda: kept[0] * 1).value)
    unaffected()


def test_a_tensor_from_inside_grad_is_an_ordinary_value():
    kept = []
    func.grad(lambda x: kept.append(x * 2) or (x**2).sum())(funtorch.ones(2))
    assert (kept[0] + 1).tolist() == [3.0, 3.0]
    unaffected()


def test_an_attribute_set_inside_vmap():
    class Holder(funtorch.nn.Module):
        def forward(self, x):
            self.last = x * 2
            return self.last.sum()

    holder = Holder()
    assert func.vmap(holder)(funtorch.ones(3, 2)).tolist() == [4.0] * 3
    with pytest.raises(EscapedTensorError):
        holder.last + 1
    assert holder(funtorch.ones(2)).item() == 4.0 and (holder.last + 1).tolist() == [3.0, 3.0]


def test_a_gradient_left_on_an_outer_leaf_is_the_sum_over_lanes():
    w, xs = funtorch.ones(2, requires_grad=True), funtorch.arange(6.0).reshape(3, 2)
    func.vmap(lambda x: (w * x).sum().backward() or x)(xs)
    assert w.grad.tolist() == xs.sum(0).tolist() and (w.grad + 1).tolist()
    unaffected()


def failing(kind):
    def f(x):
        y = x * 2
        if kind == "op":
            return y @ funtorch.ones(7)
        raise KeyError("inside")

    return f


RUNS = {
    "grad": lambda f: func.grad(f)(funtorch.ones(2)),
    "vmap": lambda f: func.vmap(f)(funtorch.ones(3, 2)),
    "jvp": lambda f: func.jvp(f, (funtorch.ones(2),), (funtorch.ones(2),)),
    "vjp": lambda f: func.vjp(f, funtorch.ones(2)),
    "jacrev": lambda f: func.jacrev(f)(funtorch.ones(2)),
    "jacfwd": lambda f: func.jacfwd(f)(funtorch.ones(2)),
    "hessian": lambda f: func.hessian(f)(funtorch.ones(2)),
    "compile": lambda f: funtorch.compile(f)(funtorch.ones(2)),
    "vmap grad": lambda f: func.vmap(func.grad(f))(funtorch.ones(3, 2)),
    "no_grad vmap": lambda f: funtorch.no_grad()(func.vmap(f))(funtorch.ones(3, 2)),
    "linearize": lambda f: func.linearize(f, funtorch.ones(2)),
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("kind", "expected"), [("user", KeyError), ("op", RuntimeError)])
def test_exceptions_pass_through_and_leave_nothing_open(run, kind, expected):
    from funtorch.core import handle
    from funtorch.core.state import state

    with pytest.raises(expected):
        RUNS[run](failing(kind))
    assert not state.levels and state.recorder is None and not handle.watchers
    unaffected()


@pytest.mark.parametrize("transform", [lambda f: func.vmap(f)(funtorch.ones(3, 2)), lambda f: func.jvp(f, (funtorch.ones(2),), (funtorch.ones(2),)),
                                       lambda f: func.vmap(lambda x: func.vmap(f)(x[None]))(funtorch.ones(3, 2))])  # fmt: skip
def test_what_a_failed_transform_wrote_outside_is_undone(transform):
    counter, memory = funtorch.zeros(()), funtorch.zeros(4)
    view = memory[:2]

    def f(x, fail):
        counter.add_(1)
        view.fill_(7)
        if fail:
            raise KeyError("inside")
        return x * 2

    with pytest.raises(KeyError):
        transform(lambda x: f(x, True))
    assert counter.item() == 0 and memory.tolist() == [0.0] * 4 and view.tolist() == [0.0] * 2
    transform(lambda x: f(x, False))
    assert counter.item() == 1 and memory.tolist() == [7.0, 7.0, 0.0, 0.0] and view.tolist() == [7.0] * 2


def test_an_exception_from_a_backward_inside_leaves_nothing_open():
    class Fails(funtorch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise KeyError("backward")

    from funtorch.core.state import state

    for run in (lambda f: func.vmap(func.grad(f))(funtorch.ones(3, 2)), lambda f: func.jvp(f, (funtorch.ones(2),), (funtorch.ones(2),)),
                lambda f: func.grad(lambda x: func.vmap(f)(x).sum())(funtorch.ones(3, 2)), lambda f: func.hessian(f)(funtorch.ones(2))):  # fmt: skip
        with pytest.raises(KeyError, match="backward"):
            run(lambda x: Fails.apply(x).sum())
        assert not state.levels
        unaffected()
