"""Tensors that change places, and the settings of conversions that ask for it."""

import pytest

import funtorch


def test_two_tensors_change_places():
    a, b = funtorch.ones(2, requires_grad=True), funtorch.nn.Parameter(funtorch.zeros(3, dtype=funtorch.float64))
    a.note = "mine"
    (a * 3).sum().backward()
    funtorch.utils.swap_tensors(a, b)
    assert type(a) is funtorch.nn.Parameter and a.tolist() == [0, 0, 0] and a.dtype is funtorch.float64 and a.grad is None
    assert type(b) is funtorch.Tensor and b.grad.tolist() == [3, 3] and b.note == "mine" and not hasattr(a, "note")
    (a * 2).sum().backward()
    (b * 2).sum().backward()
    assert a.grad.tolist() == [2, 2, 2] and b.grad.tolist() == [5, 5]


def test_views_do_not_change_places():
    a = funtorch.ones(2, 2)
    row = a[0]
    for pair in ((a, funtorch.ones(1)), (funtorch.ones(1), row)):
        with pytest.raises(RuntimeError, match="Cannot swap"):
            funtorch.utils.swap_tensors(*pair)
    assert a.tolist() == [[1, 1], [1, 1]]


def test_settings_of_conversions():
    future = funtorch.__future__
    future.set_swap_module_params_on_conversion(True)
    try:
        layer = funtorch.nn.Linear(1, 1)
        weight = layer.weight
        assert layer.double().weight is weight and future.get_swap_module_params_on_conversion()
    finally:
        future.set_swap_module_params_on_conversion(False)
    future.set_overwrite_module_params_on_conversion(False)
    assert not future.get_overwrite_module_params_on_conversion()
    with pytest.raises(NotImplementedError, match="same object"):
        future.set_overwrite_module_params_on_conversion(True)
