"""gradcheck and gradgradcheck: they pass what is right and name what is wrong."""

import pytest

import funtorch
from funtorch.autograd import GradcheckError, gradcheck, gradgradcheck


def leaf(*values, dtype=funtorch.float64):
    return funtorch.tensor(values, dtype=dtype, requires_grad=True)


class Wrong(funtorch.autograd.Function):
    """x^2 with a gradient that is off by ``factor``, or of another kind."""

    factor = 1.0

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * Wrong.factor * ctx.saved_tensors[0] * g


ALL = dict(check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True)


@pytest.mark.parametrize(
    ("f", "inputs"),
    [
        (lambda x: x.sin(), (leaf(0.3, 1.2),)),
        (lambda x, y: (x * y, x.exp().sum()), (leaf(0.3, 1.2), leaf(2.0))),
        (lambda x, n: x**n, (leaf(0.3, 1.2), 3)),
        (lambda z: z * z.conj() + z.exp(), (leaf(1 + 2j, 0.3 - 0.1j, dtype=funtorch.complex128),)),
        (lambda z: z.abs(), (leaf(1 + 2j, dtype=funtorch.complex128),)),
        (lambda x: funtorch.view_as_complex(x.view(1, 2)) * (1 + 1j), (leaf(0.3, 1.2),)),
        (lambda x: (x.sort()[0], x.argsort()), (leaf(0.3, 1.2, -1.0),)),
    ],
)
@pytest.mark.parametrize("fast_mode", [False, True])
def test_what_is_right_passes(f, inputs, fast_mode):
    assert gradcheck(f, inputs, fast_mode=fast_mode, **ALL)
    assert gradgradcheck(f, inputs, fast_mode=fast_mode, check_fwd_over_rev=True)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_wrong_gradient_is_named(fast_mode, monkeypatch):
    monkeypatch.setattr(Wrong, "factor", 1.01)
    x = leaf(0.3, 1.2)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(Wrong.apply, x, fast_mode=fast_mode)
    assert not gradcheck(Wrong.apply, x, fast_mode=fast_mode, raise_exception=False)
    assert gradcheck(Wrong.apply, x, fast_mode=fast_mode, rtol=0.1)
    with pytest.raises(GradcheckError, match="forward mode"):
        gradcheck(Wrong.apply, x, check_backward_ad=False, check_forward_ad=True)


def test_a_wrong_second_derivative_is_found():
    class Half(funtorch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return 3 * (ctx.saved_tensors[0].detach() ** 2) * g

    x = leaf(0.3, 1.2)
    assert gradcheck(Half.apply, x)
    assert not gradgradcheck(Half.apply, x, raise_exception=False)


def test_a_backward_that_varies_is_found():
    class Shaky(Wrong):
        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g + 1e-7 * funtorch.rand(2)

    x = leaf(0.3, 1.2)
    with pytest.raises(GradcheckError, match="not reentrant"):
        gradcheck(Shaky.apply, x, check_undefined_grad=False)
    assert gradcheck(Shaky.apply, x, check_undefined_grad=False, nondet_tol=1e-5)


def test_a_backward_that_can_t_do_without_a_gradient_is_found():
    class Needs(funtorch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b * 3

    x = leaf(0.3, 1.2)
    with pytest.raises((GradcheckError, TypeError)):
        gradcheck(Needs.apply, x)


def test_what_it_can_t_check_is_refused():
    with pytest.raises(ValueError, match="at least one input tensor"):
        gradcheck(funtorch.sin, funtorch.ones(2))
    with pytest.warns(UserWarning, match="double precision"):
        gradcheck(funtorch.sin, leaf(0.5, dtype=funtorch.float32), eps=1e-2, atol=1e-2)
    with pytest.raises(GradcheckError, match="expected to be zero"):
        gradcheck(lambda x: (x.detach() * 2, x.sum()), leaf(0.5))
