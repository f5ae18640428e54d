"""Sums, products, quotients, remainders, powers: values, types, gradients and errors against PyTorch."""

import numpy as np
import pytest
import torch as oracle

import funtorch as torch
from funtorch import cautions

X = np.array([[1.5, -2.5, 0.5], [3.0, -0.75, 2.0]])
Y = np.array([[2.0, 1.25, -0.5]])
I = np.array([7, -7, 5, -5, 0])  # noqa: E741
J = np.array([3, 3, -3, -3, 4])
Z = np.array([1 + 2j, -0.5j, 3.0])
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0])

BINARY = ["add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "copysign", "hypot", "rsub"]
UNARY = ["neg", "abs", "sign", "sgn", "square", "reciprocal", "positive", "deg2rad", "rad2deg", "signbit"]


@pytest.mark.parametrize("name", BINARY)
def test_binary_ops_agree(name, agree):
    agree(lambda t, x, y: getattr(t, name)(x, y), X, Y, grad=name != "floor_divide")


@pytest.mark.parametrize("name", UNARY)
def test_unary_ops_agree_at_special_values(name, agree):
    agree(lambda t, x: getattr(t, name)(x), SPECIAL, grad=name not in ("reciprocal", "sgn"))


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "copysign", "true_divide"]
)
def test_integers_agree(name, agree):
    agree(lambda t, x, y: getattr(t, name)(x, y.abs() if name == "pow" else y), I, J)


@pytest.mark.parametrize("mode", [None, "floor", "trunc"])
def test_rounding_modes_agree(mode, agree):
    agree(lambda t, x, y: (t.div(x, y, rounding_mode=mode), x.div(-1.5, rounding_mode=mode)), I, J)
    agree(lambda t, x, y: t.div(x, y, rounding_mode=mode), X, Y)


def test_division_by_float_zero_agrees(agree):
    agree(lambda t, x: (x / 0.0, x // 0.0, x % 0.0, t.fmod(x, 0.0)), SPECIAL, grad=False)


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_integer_division_by_zero_raises(name):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        getattr(torch, name)(torch.tensor([1, 2]), torch.tensor([1, 0]))


def test_complex_arithmetic_agrees(agree):
    agree(
        lambda t, x, y: (x + y, x - 2j, x * y, x / y, x.abs(), x.sgn(), x.square(), t.addcmul(x, y, y, value=2j)),
        Z,
        Z[::-1].copy(),
    )


def test_alpha_and_value_agree(agree):
    agree(lambda t, x, y: (t.add(x, y, alpha=2), t.sub(x, y, alpha=0.5), t.rsub(x, y, alpha=3)), X, Y)
    agree(lambda t, x, y: (t.addcmul(x, y, y, value=3), t.addcdiv(x, y, y, value=0.5)), X, Y)


def test_alpha_of_a_higher_category_raises(refuse):
    refuse(lambda t, x: t.add(x, x, alpha=1.5), I, words=False)
    refuse(lambda t, x: t.add(x, x, alpha=1j), X, words=False)


@pytest.mark.parametrize("weight", [0.25, 0.75, 1.0])
def test_lerp_agrees(weight, agree):
    agree(lambda t, x, y: t.lerp(x, y.expand(2, 3), weight), X, Y)
    agree(lambda t, x, y: t.lerp(x, y.expand(2, 3), x), X, Y)


def test_bool_arithmetic(agree, refuse):
    a, b = np.array([True, False]), np.array([True, True])
    agree(lambda t, x, y: (x + y, x * y, x / y, x + 1, x * 2.5, x + x.sum()), a, b)
    for f in (lambda t, x, y: x - y, lambda t, x, y: -x, lambda t, x, y: 1 - x, lambda t, x, y: x - 1):
        refuse(f, a, b, words=False)


def test_integers_wrap_around(agree):
    agree(lambda t, x: (x + 1, x * 2, -x, x.abs(), x**3), np.array([2**63 - 1, -(2**63), 5]))
    agree(lambda t, x: (x + 1, x * 2, x - 300), np.array([255, 0], np.uint8))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.5, 7, 2.0])
def test_pow_by_a_number_agrees(exponent, agree):
    agree(lambda t, x: (x**exponent).sum(), np.abs(X))


def test_pow_gradients_at_zero_agree(agree):
    base, exponent = np.array([0.0, 0.0, 0.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0, 0.0, -1.5])
    agree(lambda t, x, y: t.pow(x, y), base, exponent)
    agree(lambda t, x: (x**0, x**1, x**2, x**3.5), base)
    agree(lambda t, y: t.pow(0.0, y), np.array([0.0, 1.0, 2.5]))


def test_pow_of_integers(agree, refuse):
    agree(lambda t, x: (x**0, x**2, x**5, x**0.5 * 0, 2 ** x.abs()), I)
    agree(lambda t, x, y: t.pow(x, y), np.array([1, -1, 2, -1, 3]), np.array([-3, -3, -1, -2, 4]))
    refuse(lambda t, x: x**-1, I)


def test_float_power_is_double(agree):
    agree(lambda t, x: (t.float_power(x, 2), t.float_power(2, x), t.float_power(x, x)), np.abs(I))


def test_frexp_and_ldexp_agree(agree):
    x = np.array([0.1, -8.0, 0.0, 1e300, 5e-310, np.inf])
    agree(lambda t, x: tuple(t.frexp(x)), x[[0, 1, 2, 3, 5]], grad=False)
    agree(lambda t, x, y: t.ldexp(x, y), X, np.array([1, 2, 3]))
    agree(lambda t, x, y: t.ldexp(x, y), X, np.array([1, -2, -3]), grad=False)


@pytest.mark.parametrize("mode", ["host", "kernel"])
@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_ldexp_of_halves_rounds_the_power_once(mode, kind):
    x, y = np.linspace(-9, 9, 40), np.linspace(-8.7, 8.9, 40)
    with torch.set_engine(mode):
        made = torch.tensor(x).to(getattr(torch, kind)), torch.tensor(y).to(getattr(torch, kind))
        found = torch.ldexp(*made).double().numpy()
    exact = made[0].double().numpy() * 2 ** made[1].double().numpy()
    np.testing.assert_allclose(found, exact, rtol=float(torch.finfo(getattr(torch, kind)).eps))


def test_numbers_do_not_widen(agree):
    agree(lambda t, x: (x + 1.5, x * 2, x / 3, 2 - x, x**2), np.array([1.0, 2.0], np.float16), grad=False)
    agree(lambda t, x: (x + 1.5, x + 1, x * True, x / 2), np.array([1, 2], np.int32))


def test_in_place_forms_refuse_what_does_not_fit(refuse):
    refuse(lambda t, x: x.div_(2), I, words=False)
    refuse(lambda t, x: x.add_(1.5), I, words=False)
    refuse(lambda t, x, y: y.add_(x), X, Y, words=False)


def test_unknown_rounding_mode_names_it(refuse):
    refuse(lambda t, x: t.div(x, x, rounding_mode="up"), X)


def test_older_order_of_arguments_warns(agree, monkeypatch):
    def older(t, x, y):
        y = y.expand(2, 3)
        return x.clone().add_(0.5, y), x.clone().sub_(2, y), x.clone().addcmul_(-1, y, y), x.clone().addcdiv_(3, y, y)

    agree(older, X, Y)
    monkeypatch.setattr(cautions, "_given", set())
    with pytest.warns(UserWarning, match="deprecated"):
        torch.ones(2).add_(0.5, torch.ones(2))


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_numbers_are_not_rounded_to_a_half_first(half):
    """A second factor or divisor without dimensions counts as it is; a first one and a summand are rounded."""
    values = np.random.default_rng(3).normal(size=64).astype(np.float32)
    runs = [
        lambda t, x: x * 0.1037,
        lambda t, x: t.tensor(0.1037) * x,
        lambda t, x: 0.1037 * x,
        lambda t, x: x / 0.1037,
        lambda t, x: x.clone().mul_(1e5),
        lambda t, x: x * 1e-9 * 1e9,
        lambda t, x: x // 0.3,
        lambda t, x: t.div(x, 0.1037, rounding_mode="trunc"),
        lambda t, x: x + 0.1037,
        lambda t, x: x - t.tensor(0.1037),
        lambda t, x: x[0] * 0.1037,
    ]
    for run in runs:
        theirs, ours = (run(t, t.tensor(values.tolist()).to(getattr(t, half))) for t in (oracle, torch))
        assert str(ours.dtype) == str(theirs.dtype) and ours.float().tolist() == theirs.float().tolist()


# PyTorch's loops take 32 numbers at a time; those left over it rounds at other steps.
WHOLE_LOOPS = 128
OF_HALVES = {
    "a number by halves": lambda t, x, y: (0.1 / x, 3 / x, 1e5 / y, 1 / x),
    "a factor in a sum": lambda t, x, y: (
        t.add(x, y, alpha=0.3),
        x.sub(y, alpha=0.7),
        t.rsub(x, y, alpha=3),
        x.add(0.1, alpha=0.3),
    ),
    "in place": lambda t, x, y: (x.clone().add_(y, alpha=-0.3), x.clone().sub_(y, alpha=7), x.clone().lerp_(y, 0.25)),
    "logarithms": lambda t, x, y: (
        t.xlogy(x, y),
        t.xlogy(x, 0.3),
        t.xlogy(0.7, y),
        t.special.xlog1py(x, y),
        t.special.xlog1py(0.3, y),
    ),
    "between": lambda t, x, y: (t.lerp(x, y, y), t.lerp(x, y, 0.3), t.lerp(x, y, t.tensor(0.7).to(x.dtype))),
    "powers": lambda t, x, y: [y**e for e in (2, 3, 4, -1, -2, -3, -4, 0.5, 2.5)],
    "degrees": lambda t, x, y: (x.deg2rad(), x.rad2deg()),
}


@pytest.mark.parametrize("mode", ["host", "kernel"])
@pytest.mark.parametrize("half", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", OF_HALVES)
def test_halves_are_rounded_where_torch_rounds_them(name, half, mode):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=WHOLE_LOOPS), rng.uniform(0.1, 4, WHOLE_LOOPS)
    with torch.set_engine(mode):
        runs = [OF_HALVES[name](t, *(t.tensor(a.tolist()).to(getattr(t, half)) for a in (x, y))) for t in (oracle, torch)]
    for theirs, ours in zip(*runs, strict=True):
        assert str(ours.dtype) == str(theirs.dtype) and ours.float().tolist() == theirs.float().tolist()


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
@pytest.mark.parametrize("ends", [(4.3, 4, 50), (-3, 7.7, 33), (0, 1, 1), (1000, -2, 8), (0, 1, 300), (-1, 3, 5000)])
def test_evenly_spaced_halves_are_torch_s(half, ends):
    theirs, ours = (t.linspace(*ends, dtype=getattr(t, half)) for t in (oracle, torch))
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda t, x: t.add(x, x, alpha=1e5),
        lambda t, x: x.sub_(x, alpha=1e5),
        lambda t, x: x**1e5,
        lambda t, x: x.clamp(max=1e5),
        lambda t, x: x.clamp_(-1e5, 1.0),
        lambda t, x: t.nn.functional.hardtanh(x, -1e5, 1e5),
        lambda t, x: t.nn.functional.hardshrink(x, 1e5),
        lambda t, x: t.nn.functional.softshrink(x, 1e5),
        lambda t, x: t.nn.functional.threshold(x, 0.0, 1e5),
        lambda t, x: x.add(x, alpha=True),
    ],
)
def test_numbers_that_a_half_can_t_hold(call, refuse):
    refuse(call, np.ones(2, np.float16), words=False)


def test_numbers_that_a_half_can_t_hold_where_float32_is_computed_in(agree):
    agree(lambda t, x: (t.addcmul(x, x, x, value=1e5), t.nn.functional.threshold(x, 1e5, 0.0), x * 1e5), np.ones(2, np.float16))
    agree(lambda t, x: (t.addcmul(x, x, x, value=True), t.addcdiv(x, x, x, value=True)), np.ones(2, np.float32))


def test_a_number_by_a_tensor_is_a_multiple_of_the_reciprocal(agree):
    agree(lambda t, x: (3 / x, 1 / x, (3 / x).grad_fn.name()), np.linspace(0.1, 3, 50).astype(np.float32))
    x = np.random.default_rng(0).normal(size=200).astype(np.float32)
    theirs, ours = (0.3 / t.tensor(x.tolist()) for t in (oracle, torch))
    assert ours.tolist() == theirs.tolist()


def test_gradients_and_transforms_of_halves_times_a_number():
    x = torch.tensor([0.1, 2.0]).half()
    expected = (x.float() * 1e5).half()
    assert torch.equal(torch.vmap(lambda v: v * 1e5)(x), expected)
    assert torch.equal(torch.compile(lambda v: v * 1e5)(x), expected)
    assert torch.func.grad(lambda v: (v * 0.1037).sum())(x).dtype is torch.float16
    scale = torch.tensor(1e5, requires_grad=True)
    (x * scale * 1e-6).sum().backward()
    assert scale.grad.dtype is torch.float32
