"""Modules as functions of their parameters by position, against torch.func's form."""

import pytest

import funtorch as torch
from funtorch.functorch import combine_state_for_ensemble, make_functional, make_functional_with_buffers, vmap


def _model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))


def test_parameters_by_position():
    model = torch.nn.Linear(3, 2)
    f, params = make_functional(model)
    x = torch.randn(5, 3)
    assert torch.equal(f([2 * p for p in params], x), 2 * model(x))
    f(params, x).sum().backward()
    assert torch.equal(model.bias.grad, torch.full((2,), 5.0))
    assert not any(p.requires_grad for p in make_functional(model, disable_autograd_tracking=True)[1])


def test_buffers_change_where_they_are_given():
    model = _model()
    f, params, buffers = make_functional_with_buffers(model)
    buffers = [b.clone() for b in buffers]
    x = torch.randn(6, 3)
    want = model(x)
    assert torch.equal(f(params, buffers, x), want)
    assert all(torch.equal(a, b) for a, b in zip(buffers, model.buffers(), strict=True))


def test_a_module_with_buffers_needs_the_other_form():
    with pytest.raises(RuntimeError, match="1.running_mean.*use make_functional_with_buffers"):
        make_functional(_model())


def test_an_ensemble():
    models = [torch.nn.Linear(3, 2) for _ in range(4)]
    f, params, buffers = combine_state_for_ensemble(models)
    x = torch.randn(5, 3)
    out = vmap(f, in_dims=(0, 0, None))(params, buffers, x)
    assert torch.allclose(out, torch.stack([m(x) for m in models]))
    with pytest.raises(RuntimeError, match="at least one model"):
        combine_state_for_ensemble([])
