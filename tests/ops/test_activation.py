"""Activation functions: against PyTorch, at their kinks too."""

import numpy as np
import pytest

import funtorch as torch

# The kinks of all functions, and values far out on both sides.
X = np.array([-1e3, -30.0, -6.0, -3.0, -1.0, -0.5, -0.1, 0.0, 0.3, 0.5, 1.0, 3.0, 5.5, 6.0, 20.0, 30.0, 1e3])

FUNCTIONS = {
    "relu": [()], "relu6": [()], "silu": [()], "mish": [()], "selu": [()], "hardsigmoid": [()], "hardswish": [()],
    "tanhshrink": [()], "softsign": [()], "logsigmoid": [()], "sigmoid": [()], "tanh": [()],
    "leaky_relu": [(), (0.2,)], "elu": [(), (0.7,)], "celu": [(), (0.7,)], "softplus": [(), (2, 10)],
    "hardtanh": [(), (-0.5, 3.0)], "softshrink": [(), (1.0,)], "hardshrink": [(), (1.0,)], "threshold": [(0.5, 7.0)],
    "gelu": [()], "rrelu": [()],
}  # fmt: skip
CHANGING = [
    "relu", "relu6", "silu", "mish", "selu", "hardsigmoid", "hardswish", "leaky_relu", "elu", "celu", "hardtanh", "rrelu",
]  # fmt: skip


@pytest.mark.parametrize("name, args", [(name, args) for name, all_args in FUNCTIONS.items() for args in all_args])
def test_values_and_gradients_agree(name, args, agree):
    agree(lambda t, x: getattr(t.nn.functional, name)(x, *args), X)


@pytest.mark.parametrize("name", CHANGING)
def test_inplace_changes_the_input(name):
    x = torch.tensor(X)
    expected = getattr(torch.nn.functional, name)(x)
    result = getattr(torch.nn.functional, name)(x, inplace=True)
    assert result is x
    assert torch.equal(x, expected)


def test_gelu_by_tanh_agrees(agree, refuse):
    agree(lambda t, x: t.nn.functional.gelu(x, approximate="tanh"), X)
    refuse(lambda t, x: t.nn.functional.gelu(x, approximate="sin"), X, words=False)


def test_functions_of_several_elements_agree(agree):
    x = X[:16].reshape(2, 2, 4)
    agree(lambda t, x: (t.nn.functional.glu(x), t.nn.functional.glu(x, 1)), x)
    agree(lambda t, x, w: (t.prelu(x, w), t.nn.functional.prelu(x, w[:1])), x, np.array([0.25, -0.5]))
    agree(lambda t, x: (t.nn.functional.softmin(x, 1), t.nn.functional.softmax(x, -1)), x)


@pytest.mark.parametrize("hard", [False, True])
def test_gumbel_softmax_draws_as_torch(hard, agree):
    def sample(t, x):
        t.manual_seed(3)
        return t.nn.functional.gumbel_softmax(x, tau=0.5, hard=hard, dim=1)

    agree(sample, np.linspace(-1, 1, 12).reshape(3, 4))


def test_hardswish_has_a_slope_at_infinity():
    x = torch.tensor([float("inf"), -float("inf"), 3.0, -3.0, 0.0, float("nan")], requires_grad=True)
    z = torch.nn.functional.hardswish(x)
    assert torch.autograd.grad(z.sum(), x)[0][:5].tolist() == [1.0, 0.0, 1.0, 0.0, 0.5] and z[-1].isnan()


def test_gumbel_softmax_without_data_draws_nothing():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    z = torch.nn.functional.gumbel_softmax(torch.ones(3, 4, device="meta"))
    assert z.device.type == "meta" and z.shape == (3, 4) and torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize("shape, turned", [((9,), False), ((4, 10), False), ((4, 10), True), ((0, 3), False)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_random_slopes_are_torchs_from_one_seed(shape, turned, dtype):
    import torch as theirs

    def sample(t):
        t.manual_seed(3)
        x = t.randn(shape, dtype=getattr(t, dtype))
        x = x.t().requires_grad_() if turned else x.requires_grad_()
        z = t.nn.RReLU()(x)
        return z.detach().numpy(), t.autograd.grad(z.sum(), x)[0].numpy(), t.rand(2).numpy()

    for mine, other in zip(sample(torch), sample(theirs), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6)


def test_random_slopes_under_transforms():
    torch.manual_seed(0)
    x = -torch.ones(3, 4)

    def rrelu(row):
        return torch.nn.functional.rrelu(row, training=True)

    lanes = torch.func.vmap(rrelu, randomness="different")(x)
    assert len(set(lanes.flatten().tolist())) == 12
    _, rows = torch.transforms.scan(lambda total, row: (total + 1, rrelu(row)), torch.zeros(()), x)
    assert ((rows > -1 / 3 - 1e-6) & (rows < -1 / 8 + 1e-6)).all()
    assert rrelu(torch.empty(2, 3, device="meta")).shape == (2, 3)


def test_random_slopes_lie_in_their_range():
    torch.manual_seed(0)
    z = torch.nn.functional.rrelu(-torch.ones(1000), 0.2, 0.4, training=True)
    assert -0.4 <= z.min().item() < -0.39 and -0.21 < z.max().item() <= -0.2


@pytest.mark.parametrize("name", ["relu_", "celu_", "selu_", "elu_", "hardtanh_", "leaky_relu_", "threshold_"])
def test_in_place_forms_take_their_input_by_name(name, agree):
    options = {"threshold": 0.5, "value": 2.0} if name == "threshold_" else {}
    agree(lambda t, x: getattr(t.nn.functional, name)(input=x.clone(), **options), np.array([-1.0, 0.25, 2.0]))


WRONG = [
    lambda t, x: t.nn.functional.dropout(x.tolist()),
    lambda t, x: t.nn.functional.one_hot(x.tolist()),
    lambda t, x: t.nn.functional.gelu(x),
    lambda t, x: t.nn.functional.elu(x),
    lambda t, x: t.nn.functional.softplus(x),
    lambda t, x: t.nn.functional.hardtanh(x > 0),
    lambda t, x: t.nn.functional.glu(x),
    lambda t, x: t.relu(x > 0),
    lambda t, x: t.prelu(x.double(), t.ones(3, 1, dtype=t.float64)),
    lambda t, x: t.prelu(x, x.double()),
    lambda t, x: t.prelu(x.double(), t.ones(2, dtype=t.float64)),
    lambda t, x: t.nn.functional.hardtanh(x, 2, 1),
    lambda t, x: t.nn.functional.softshrink(x.double(), -1),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments_raise_as_in_torch(wrong, refuse):
    refuse(wrong, np.arange(3))
