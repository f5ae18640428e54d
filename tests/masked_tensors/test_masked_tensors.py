"""Masked Tensors: text, values and gradients are PyTorch's; what is masked out takes part in nothing."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch as oracle

import funtorch
import funtorch.masked

DATA, MASK = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[True, False, True], [False, True, True]]


def made(torch, requires_grad=False):
    return torch.masked.masked_tensor(torch.tensor(DATA), torch.tensor(MASK), requires_grad=requires_grad)


def small(torch, data, mask):
    return torch.masked.masked_tensor(torch.tensor(data), torch.tensor(mask))


SHOWN = {
    "itself": lambda t: made(t),
    "a row": lambda t: made(t)[0],
    "ints": lambda t: small(t, [1, 2, 3], [True, False, True]),
    "bools": lambda t: small(t, [True, False], [True, False]),
    "large": lambda t: small(t, [1e10, 2.0, 3.0], [True, False, True]),
    "number": lambda t: small(t, 2.0, True),
    "hidden number": lambda t: small(t, 2.0, False),
    "sum": lambda t: made(t).sum(),
    "sum of a row": lambda t: made(t).sum(1),
    "sum kept": lambda t: made(t).sum(1, keepdim=True),
    "sum of two": lambda t: made(t).sum((0, 1)),
    "nothing": lambda t: small(t, [1.0, 2.0], [False, False]).sum(),
    "mean": lambda t: made(t).mean(0),
    "prod": lambda t: made(t).prod(1),
    "amax": lambda t: made(t).amax(1),
    "amin": lambda t: t.amin(made(t), 0),
    "argmax": lambda t: made(t).argmax(1),
    "std": lambda t: made(t).std(),
    "var": lambda t: made(t).var(1),
    "softmax": lambda t: made(t).softmax(1),
    "sqrt": lambda t: t.sqrt(made(t)),
    "neg": lambda t: -made(t),
    "exp": lambda t: (0.5 * made(t)).exp(),  # exp(4) lies between two texts of four digits
    "pow": lambda t: made(t) ** 2,
    "add": lambda t: made(t) + made(t),
    "mul number": lambda t: 2 * made(t),
    "add tensor": lambda t: made(t) + t.tensor(DATA),
    "division": lambda t: made(t) / made(t),
    "eq": lambda t: made(t) == made(t),
    "t": lambda t: made(t).t(),
    "reshape": lambda t: made(t).reshape(6),
    "view": lambda t: made(t).view(3, 2),
    "unsqueeze": lambda t: made(t).unsqueeze(0),
    "cat": lambda t: t.cat([made(t), made(t)]),
    "clone": lambda t: made(t).clone(),
    "detach": lambda t: made(t, True).detach(),
    "double": lambda t: made(t).double(),
    "data": lambda t: made(t).get_data(),
    "mask": lambda t: made(t).get_mask(),
    "to_tensor": lambda t: made(t).to_tensor(-1),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", SHOWN)
def test_it_shows_what_pytorch_shows(name):
    ours, theirs = SHOWN[name](funtorch), SHOWN[name](oracle)
    assert repr(ours) == repr(theirs)
    assert (str(ours.dtype), tuple(ours.shape)) == (str(theirs.dtype), tuple(theirs.shape))


REFUSED = {
    "masks that differ": lambda t: made(t) + t.masked.masked_tensor(t.tensor(DATA), ~t.tensor(MASK)),
    "another size": lambda t: t.masked.masked_tensor(t.tensor(DATA), t.tensor(MASK)[:1]),
    "a mask of numbers": lambda t: t.masked.masked_tensor(t.tensor(DATA), t.tensor(DATA)),
    "a list": lambda t: t.masked.masked_tensor([1.0], t.tensor([True])),
    "a product": lambda t: made(t) @ made(t).t(),
    "a running sum": lambda t: made(t).cumsum(0),
    "numpy": lambda t: made(t).numpy(),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_what_pytorch_refuses_is_refused(name):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        REFUSED[name](oracle)
    kind = next(k for k in (RuntimeError, ValueError, TypeError) if issubclass(theirs.type, k))
    with pytest.raises(kind):
        REFUSED[name](funtorch)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gradients_are_pytorchs_and_masked():
    for torch in (funtorch, oracle):
        x = made(torch, requires_grad=True)
        (x * x).sum().backward()
        assert x.is_leaf
        assert torch.masked.is_masked_tensor(x.grad)
        assert x.grad.to_tensor(0).tolist() == [[0.0, 0.0, 4.0], [0.0, 8.0, 10.0]]
    data = funtorch.tensor(DATA, requires_grad=True)
    funtorch.masked.as_masked_tensor(data, funtorch.tensor(MASK)).mul(3).sum().backward()
    assert data.grad.tolist() == [[3.0, 0.0, 3.0], [0.0, 3.0, 3.0]]


def test_nan_that_is_masked_out_spoils_nothing():
    data = funtorch.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    x = funtorch.masked.as_masked_tensor(data, funtorch.tensor([True, False, True]))
    assert x.mean().item() == 2
    x.sum().backward()
    assert data.grad.tolist() == [1.0, 0.0, 1.0]


def test_it_is_a_tensor_that_can_be_copied():
    x = made(funtorch, requires_grad=True)
    assert isinstance(x, funtorch.Tensor)
    assert isinstance(x, funtorch.masked.MaskedTensor)
    for again in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert repr(again) == repr(x)
        assert again.requires_grad
