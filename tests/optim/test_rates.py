"""Rates that are Tensors, elements that are no numbers, and other options at their edges, beside PyTorch's."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import torch

import funtorch

LIBS = (torch, funtorch)
ALL = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Adafactor", "Muon"]
VECTORS = [name for name in ALL if name != "Muon"]


def walk(lib, name, options, values=(0.5, -1.0, 0.0), steps=4):
    """The parameter and its state after some steps with these gradients."""
    shape = (1, 3) if name == "Muon" else (3,)
    p = lib.nn.Parameter(lib.tensor([1.0, 2.0, 3.0], dtype=lib.float64).reshape(shape))
    optimizer = getattr(lib.optim, name)([p], **{key: value(lib) if callable(value) else value for key, value in options.items()})
    for step in range(steps):
        p.grad = lib.tensor(values, dtype=lib.float64).reshape(shape) * (step + 1)
        optimizer.step()
    return {"": p.detach().numpy(), **{key: value.detach().numpy() for key, value in optimizer.state[p].items()}}


def assert_same(name, options, tolerance=1e-9, **more):
    theirs, ours = (walk(lib, name, options, **more) for lib in LIBS)
    assert ours.keys() == theirs.keys()
    for key in theirs:
        assert ours[key].shape == theirs[key].shape
        np.testing.assert_allclose(ours[key], theirs[key], rtol=tolerance, atol=1e-10)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("name", ALL)
def test_a_rate_is_a_tensor_of_one_element_in_any_shape(name, shape):
    assert_same(name, {"lr": lambda lib: lib.full(shape, 0.1, dtype=lib.float64)}, tolerance=2e-2 if name == "Muon" else 1e-7)


@pytest.mark.parametrize("name", [*ALL, "SparseAdam", "LBFGS"])
def test_a_rate_below_zero_is_refused(name):
    for lib in LIBS:
        with pytest.raises(ValueError, match="-0.5"):
            getattr(lib.optim, name)([lib.nn.Parameter(lib.ones(2, 2))], lr=lib.tensor(-0.5))


@pytest.mark.parametrize("name", ["ASGD", "Rprop"])
def test_derivatives_by_a_rate_that_the_state_begins_with(name):
    def loss(lr, differentiable):
        p = funtorch.tensor([1.0, 2.0], dtype=funtorch.float64)
        optimizer = getattr(funtorch.optim, name)([p], lr=lr, differentiable=differentiable)
        for step in range(3):
            p.grad = funtorch.tensor([0.5, -1.0], dtype=funtorch.float64) * (step + 1)
            optimizer.step()
        return (p * p).sum()

    slope = funtorch.func.grad(lambda lr: loss(lr, True))(funtorch.tensor(0.1, dtype=funtorch.float64))
    expected = (float(loss(0.101, False)) - float(loss(0.099, False))) / 0.002
    np.testing.assert_allclose(float(slope), expected, rtol=1e-3)


@pytest.mark.parametrize("lr", [0.1, lambda lib: lib.tensor(0.1, dtype=lib.float64)], ids=["number", "tensor"])
def test_asgd_counts_in_single_precision_for_lists(lr):
    for foreach in (False, True):
        assert_same("ASGD", {"lr": lr, "lambd": 0.1, "t0": 2, "foreach": foreach}, steps=8)


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_an_element_that_is_no_number_leaves_the_others_alone(name, bad):
    assert_same(name, {"lr": 0.1}, values=(bad, 0.5, 0.0), tolerance=1e-7)


def test_betas_are_kept_as_a_tuple_of_two():
    for lib in LIBS:
        p = [lib.nn.Parameter(lib.ones(1))]
        assert lib.optim.Adam(p, betas=[0.5, 0.6]).param_groups[0]["betas"] == (0.5, 0.6)
        with pytest.raises(IndexError):
            lib.optim.Adam(p, betas=(0.5,))


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("Adafactor", "Muon")])
def test_a_leaf_is_not_stepped_on_the_tape(name):
    for lib in LIBS:
        p = lib.nn.Parameter(lib.ones(2))
        p.grad = lib.ones(2)
        optimizer = getattr(lib.optim, name)([p], differentiable=True)
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
            optimizer.step()
        assert p.is_leaf
        assert p.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("scale", [None, 2.0])
@pytest.mark.parametrize("infinite", [None, 0.0, 1.0])
@pytest.mark.parametrize("name", ["adam", "sgd", "adagrad"])
def test_a_fused_step_divides_by_the_scale_and_leaves_out_what_is_infinite(name, infinite, scale):
    lists = {"adam": ["exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs"], "sgd": ["momentum_buffer_list"], "adagrad": ["state_sums"]}[
        name
    ]
    options = {
        "adam": {"amsgrad": True, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}, "adagrad": {"lr_decay": 0.1, "eps": 1e-8},
        "sgd": {"momentum": 0.5, "dampening": 0.0, "nesterov": False},
    }[name]  # fmt: skip
    ends = []
    for lib in LIBS:
        function = getattr(importlib.import_module(f"{lib.__name__}.optim.{name}"), name)
        p, g = lib.ones(2), lib.tensor([1.0, 4.0])
        states = [[lib.zeros(2)] for _ in lists] + ([] if name == "sgd" else [[lib.tensor(0.0)]])
        given = {
            key: None if value is None else lib.tensor(value) for key, value in (("grad_scale", scale), ("found_inf", infinite))
        }
        function([p], [g], *states, fused=True, lr=0.1, weight_decay=0.0, maximize=False, **options, **given)
        ends.append([each.numpy() for each in (p, g, *(state[0] for state in states))])
        if scale is not None:
            with pytest.raises(AssertionError):
                function([p], [g], *states, lr=0.1, weight_decay=0.0, maximize=False, **options, **given)
    for ours, theirs in zip(ends[1], ends[0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
