"""The functional forms beside PyTorch's: lists that change in place, and the classes' own steps."""

from __future__ import annotations

import importlib
import inspect

import numpy as np
import pytest
import torch

import funtorch

RATE = {"lr": 0.1, "weight_decay": 0.2, "eps": 1e-3, "maximize": False}
BETAS = {"beta1": 0.8, "beta2": 0.9}
# By name: the states, with what they begin with; options.
FORMS = {
    "adadelta": ({"square_avgs": 0, "acc_deltas": 0}, {**RATE, "rho": 0.9}),
    "adagrad": ({"state_sums": 0.1}, {**RATE, "lr_decay": 0.1}),
    "adam": ({"exp_avgs": 0, "exp_avg_sqs": 0, "max_exp_avg_sqs": 0}, {**RATE, **BETAS, "amsgrad": True}),
    "adamax": ({"exp_avgs": 0, "exp_infs": 0}, {**RATE, **BETAS}),
    "adamw": ({"exp_avgs": 0, "exp_avg_sqs": 0, "max_exp_avg_sqs": 0}, {**RATE, **BETAS, "amsgrad": False}),
    "asgd": ({"axs": 0, "mus": "one", "etas": "one"}, {"lr": 0.1, "lambd": 0.1, "t0": 2, "alpha": 0.5, "weight_decay": 0.2, "maximize": True}),
    "nadam": ({"exp_avgs": 0, "exp_avg_sqs": 0, "mu_products": "one"}, {**RATE, **BETAS, "momentum_decay": 0.1}),
    "radam": ({"exp_avgs": 0, "exp_avg_sqs": 0}, {**RATE, **BETAS, "decoupled_weight_decay": True}),
    "rmsprop": ({"square_avgs": 0, "grad_avgs": 0, "momentum_buffer_list": 0}, {**RATE, "alpha": 0.9, "momentum": 0.5, "centered": True}),
    "rprop": ({"prevs": 0, "step_sizes": 0.1}, {"step_size_min": 1e-3, "step_size_max": 0.5, "etaminus": 0.5, "etaplus": 1.5, "maximize": True}),
    "sgd": ({}, {"lr": 0.1, "weight_decay": 0.2, "momentum": 0.9, "dampening": 0.1, "nesterov": False, "maximize": True}),
    "_muon": ({"muon_momentum_bufs": 0}, {
        "lr": 0.1, "weight_decay": 0.1, "momentum": 0.9, "nesterov": True, "ns_coefficients": (3.4445, -4.775, 2.0315), "ns_steps": 3,
        "eps": 1e-7, "adjust_lr_fn": None, "has_complex": False,
    }),
}  # fmt: skip
VALUES = (np.arange(6.0).reshape(2, 3) / 3 - 1, np.ones((3, 1)))


def form(lib, name):
    return getattr(importlib.import_module(f"{lib.__name__}.optim.{name}"), name.strip("_"))


def made(lib, first, values=VALUES):
    """A state for each parameter: of its shape, or one number."""
    return [lib.tensor(1.0) if first == "one" else lib.full(v.shape, float(first), dtype=lib.float64) for v in values]


def lists(lib, name):
    states, _ = FORMS[name]
    columns = (
        {"momentum_buffer_list": [None, None]} if name == "sgd" else {key: made(lib, first) for key, first in states.items()}
    )
    if name not in ("sgd", "_muon"):
        columns["state_steps"] = [lib.tensor(0.0) for _ in VALUES]
    return [lib.tensor(value) for value in VALUES], columns


def grads(lib, step):
    return [lib.tensor(np.cos(value * 3 + step)) for value in VALUES]


def numbers(lists_of_tensors):
    return [np.asarray(each.detach().numpy()) for part in lists_of_tensors for each in part]


@pytest.mark.parametrize("name", FORMS)
def test_lists_change_in_place_as_pytorchs_do(name):
    ends = []
    for lib in (torch, funtorch):
        params, columns = lists(lib, name)
        held = [*params, *(each for column in columns.values() for each in column if each is not None)]
        for step in range(5):
            given = {"d_p_list" if name == "sgd" else "grads": grads(lib, step)}
            assert form(lib, name)(params, **given, **columns, **FORMS[name][1]) is None
        now = [*params, *(each for column in columns.values() for each in column)]
        assert {id(each) for each in held} <= {id(each) for each in now}
        ends.append(numbers([params, *columns.values()]))
    for ours, theirs in zip(ends[1], ends[0], strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=2e-3 if name == "_muon" else 1e-10)


@pytest.mark.parametrize("name", FORMS)
def test_signatures(name):
    ours, theirs = (inspect.signature(form(lib, name)).parameters for lib in (funtorch, torch))
    assert [(p.name, p.kind, p.default) for p in ours.values()] == [(p.name, p.kind, p.default) for p in theirs.values()]


def test_adafactor_has_none_where_a_parameter_lacks_a_state():
    options = {"d": 1.0, "lr": 0.1, "beta2_decay": -0.8, "weight_decay": 0.1, "eps1": None, "eps2": 1e-3, "maximize": False}
    ends = []
    for lib in (torch, funtorch):
        params = [lib.tensor(VALUES[0]), lib.tensor(VALUES[0][0])]
        rows = [lib.zeros(2, 1, dtype=lib.float64), None]
        columns = [lib.zeros(1, 3, dtype=lib.float64), None]
        variances = [None, lib.zeros(3, dtype=lib.float64)]
        steps = [lib.tensor(0.0), lib.tensor(0.0)]
        for step in range(4):
            form(lib, "_adafactor")(params, [p.cos() + step for p in params], rows, columns, variances, steps, **options)
        ends.append(numbers([params, rows[:1], columns[:1], variances[1:], steps]))
    for ours, theirs in zip(ends[1], ends[0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)


def test_a_counter_that_is_there_twice_counts_twice():
    for lib in (torch, funtorch):
        count = lib.tensor(0.0)
        params, columns = lists(lib, "radam")
        form(lib, "radam")(params, grads(lib, 0), **{**columns, "state_steps": [count, count]}, **FORMS["radam"][1])
        assert count == 2


@pytest.mark.parametrize("name", ["adamw", "sgd", "radam"])
def test_grad_mode_decides_what_is_on_the_tape(name):
    slopes = []
    for lib in (torch, funtorch):
        params, columns = lists(lib, name)
        start = [p.requires_grad_() for p in params]
        if name == "sgd":
            columns = {"momentum_buffer_list": made(lib, 0.5)}
        moving = [p * 1 for p in start]
        given = {"d_p_list" if name == "sgd" else "grads": [p.exp() for p in start]}
        form(lib, name)(moving, **given, **columns, **FORMS[name][1])
        sum((p * p).sum() for p in moving).backward()
        slopes.append(numbers([[p.grad for p in start]]))
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
            form(lib, name)(start, **given, **columns, **FORMS[name][1])
    for ours, theirs in zip(slopes[1], slopes[0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)


@pytest.mark.parametrize("short", ["grads", "exp_avgs", "max_exp_avg_sqs", "state_steps"])
def test_lists_are_as_long_as_that_of_the_parameters(short):
    for lib in (torch, funtorch):
        params, columns = lists(lib, "adam")
        given = {"grads": grads(lib, 0), **columns}
        with pytest.raises(IndexError, match="list index out of range"):
            form(lib, "adam")(params, **{**given, short: given[short][:1]}, **FORMS["adam"][1])
        if lib is funtorch:
            assert [p.tolist() for p in params] == [value.tolist() for value in VALUES]  # before anything changes


def test_counters_are_tensors():
    for lib in (torch, funtorch):
        params, columns = lists(lib, "adam")
        with pytest.raises(
            RuntimeError, match="API has changed, `state_steps` argument must contain a list of singleton tensors"
        ):
            form(lib, "adam")(params, grads(lib, 0), **{**columns, "state_steps": [0, 0]}, **FORMS["adam"][1])


@pytest.mark.parametrize(
    ("name", "functional", "options"),
    [
        ("Adam", "adam", {"amsgrad": True}), ("Adadelta", "adadelta", {}), ("Adagrad", "adagrad", {}), ("Adamax", "adamax", {}),
        ("ASGD", "asgd", {}), ("NAdam", "nadam", {}), ("RAdam", "radam", {}), ("RMSprop", "rmsprop", {"momentum": 0.9, "centered": True}),
        ("Rprop", "rprop", {}), ("Muon", "_muon", {}), ("Adafactor", "_adafactor", {}), ("SGD", "sgd", {"momentum": 0.9}),
    ],
)  # fmt: skip
def test_a_subclass_fills_the_lists_with_init_group(name, functional, options):
    found = []
    for lib in (torch, funtorch):
        params = [lib.nn.Parameter(lib.ones(2, 3)), lib.nn.Parameter(lib.ones(2, 1)), lib.nn.Parameter(lib.ones(1, 2))]
        optimizer = getattr(lib.optim, name)(params, **options)
        params[0].grad, params[2].grad = lib.ones(2, 3), lib.ones(1, 2)
        given = [[] for _ in list(inspect.signature(torch.optim.__dict__[name]._init_group).parameters)[2:]]
        result = optimizer._init_group(optimizer.param_groups[0], *given)
        shapes = [[None if each is None else tuple(each.shape) for each in column] for column in given]
        found.append((result, shapes, [list(optimizer.state[p]) for p in params]))
    assert found[0] == found[1]
    assert callable(form(funtorch, functional))


def test_sparse_adam():
    ends = []
    for lib in (torch, funtorch):
        step = importlib.import_module(f"{lib.__name__}.optim._functional").sparse_adam
        params, averages, squares = ([lib.ones(3, 2, dtype=lib.float64)] for _ in range(3))
        for count in range(1, 4):
            grad = lib.sparse_coo_tensor(
                lib.tensor([[0, 0, 2]]), lib.ones(3, 2, dtype=lib.float64) * count, (3, 2), check_invariants=True
            )
            step(params, [grad], averages, squares, [count], eps=1e-3, beta1=0.8, beta2=0.9, lr=0.1, maximize=True)
        ends.append(numbers([params, averages, squares]))
    for ours, theirs in zip(ends[1], ends[0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)
