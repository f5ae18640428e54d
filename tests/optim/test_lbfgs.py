"""L-BFGS beside PyTorch's: losses, parameters, states; the line search by itself."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import funtorch
from funtorch.optim.strong_wolfe import Point, cubic_minimum, search

OPTIONS = [
    {}, {"lr": 0.1}, {"max_iter": 3}, {"history_size": 2}, {"tolerance_grad": 0.3}, {"tolerance_change": 1e-2}, {"max_eval": 4},
    {"line_search_fn": "strong_wolfe"}, {"line_search_fn": "strong_wolfe", "max_iter": 4, "lr": 3.0}, {"line_search_fn": "strong_wolfe", "max_eval": 6},
]  # fmt: skip


def rosenbrock(lib, x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def bowl(lib, x):
    return (lib.tensor([1.0, 5.0, 0.3], dtype=lib.float64) * (x - 1) ** 2).sum() + (x[0] * x[1]).cos()


def descend(lib, loss_of, options, steps=3, begin=(-1.2, 1.0, 0.5)):
    x = lib.nn.Parameter(lib.tensor(begin, dtype=lib.float64))
    optimizer = lib.optim.LBFGS([x], **options)

    def closure():
        optimizer.zero_grad()
        loss = loss_of(lib, x)
        loss.backward()
        return loss

    losses = [float(optimizer.step(closure).detach()) for _ in range(steps)]
    return losses, x.detach().numpy().copy(), optimizer


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("loss_of", [bowl, rosenbrock])
def test_the_same_descent(loss_of, options):
    if loss_of is rosenbrock and "line_search_fn" not in options:
        options = {**options, "lr": 1e-3}  # where steps of full length run away, rounding does too
    (losses, x, optimizer), (wanted, y, other) = (descend(lib, loss_of, options) for lib in (funtorch, torch))
    np.testing.assert_allclose(losses, wanted, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-9)
    mine, theirs = (each.state_dict()["state"][0] for each in (optimizer, other))
    assert set(mine) == set(theirs)
    assert [mine["func_evals"], mine["n_iter"], len(mine["ro"])] == [theirs["func_evals"], theirs["n_iter"], len(theirs["ro"])]


def test_it_finds_the_minimum():
    losses, x, _ = descend(funtorch, rosenbrock, {"line_search_fn": "strong_wolfe", "max_iter": 60}, steps=2)
    np.testing.assert_allclose(x, 1, atol=1e-5)
    assert losses[1] < 1e-8 < losses[0]


def test_several_parameters_one_of_them_complex_and_one_without_a_gradient():
    ends = {}
    for lib in (torch, funtorch):
        a = lib.nn.Parameter(lib.tensor([[1.0, -2.0]], dtype=lib.float64))
        b = lib.nn.Parameter(lib.tensor([1 + 2j, -0.5j], dtype=lib.complex128))
        c = lib.nn.Parameter(lib.tensor([4.0], dtype=lib.float64))
        optimizer = lib.optim.LBFGS([a, b, c], lr=0.3, max_iter=5)

        def closure(a=a, b=b, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (a**4).sum() + ((b - 1).abs() ** 2).sum() * a.exp().sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        ends[lib] = np.concatenate([p.detach().numpy().ravel() for p in (a, b, c)])
    np.testing.assert_allclose(ends[funtorch], ends[torch], rtol=1e-9)
    assert ends[funtorch][-1] == 4


def test_a_state_resumes():
    x = funtorch.nn.Parameter(funtorch.tensor([-1.2, 1.0], dtype=funtorch.float64))
    expected, _, _ = descend(funtorch, rosenbrock, {"line_search_fn": "strong_wolfe", "max_iter": 3}, steps=4, begin=(-1.2, 1.0))
    options, losses, saved = {"line_search_fn": "strong_wolfe", "max_iter": 3}, [], None
    for _ in range(4):
        optimizer = funtorch.optim.LBFGS([x], **options)
        if saved is not None:
            optimizer.load_state_dict(saved)

        def closure(optimizer=optimizer):
            optimizer.zero_grad()
            loss = rosenbrock(funtorch, x)
            loss.backward()
            return loss

        losses.append(float(optimizer.step(closure).detach()))
        saved = optimizer.state_dict()
    np.testing.assert_allclose(losses, expected, rtol=1e-12)


def on_a_line(value, slope):
    return lambda t: Point(t, value(t), None, slope(t))


LINES = {
    "quadratic": (lambda t: (t - 3) ** 2, lambda t: 2 * (t - 3)),
    "steep": (lambda t: np.exp(-t) + 0.01 * t * t, lambda t: -np.exp(-t) + 0.02 * t),
    "waves": (lambda t: -t / (t * t + 2), lambda t: (t * t - 2) / (t * t + 2) ** 2),  # Moré and Thuente's first
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("first", [0.01, 1.0, 30.0])
def test_the_strong_wolfe_conditions_hold(name, first):
    evaluate = on_a_line(*LINES[name])
    start = evaluate(0.0)
    found, calls = search(evaluate, start, first, 25, 1.0, 1e-9)
    assert found.value <= start.value + 1e-4 * found.t * start.slope
    assert abs(found.slope) <= 0.9 * abs(start.slope)
    assert 1 <= calls <= 26


def test_a_cubic_is_found_by_two_points():
    value, slope = (lambda t: t**3 - 3 * t), (lambda t: 3 * t * t - 3)
    points = [Point(t, value(t), None, slope(t)) for t in (0.0, 3.0)]
    assert cubic_minimum(*points, 0.0, 3.0) == pytest.approx(1.0)
    assert cubic_minimum(*points[::-1], 0.0, 3.0) == pytest.approx(1.0)
    assert cubic_minimum(*points, 2.0, 3.0) == 2.0
    falling = [Point(t, -(t**3) - t, None, -3 * t * t - 1) for t in (-1.0, 1.0)]
    assert cubic_minimum(*falling, -1.0, 1.0) == 0.0  # has no minimum


def test_errors():
    x = funtorch.zeros(1, requires_grad=True)
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        funtorch.optim.LBFGS([x], lr=-1)
    with pytest.raises(ValueError, match="parameter groups"):
        funtorch.optim.LBFGS([{"params": [x]}, {"params": [funtorch.zeros(1, requires_grad=True)]}])
    with pytest.raises(TypeError, match="closure"):
        funtorch.optim.LBFGS([x]).step()
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        funtorch.optim.LBFGS([x], line_search_fn="armijo").step(lambda: x.sum())


def test_the_states_keys_come_in_the_order_in_which_they_came_to_be():
    orders = []
    for lib in (torch, funtorch):
        seen = []
        for most in (1, 3):
            p = lib.nn.Parameter(lib.tensor([2.0, 1.0], dtype=lib.float64))
            optimizer = lib.optim.LBFGS([p], lr=0.1, max_iter=most)

            def closure(p=p, optimizer=optimizer):
                optimizer.zero_grad()
                loss = (p**4).sum()
                loss.backward()
                return loss

            for _ in range(3):
                optimizer.step(closure)
            seen.append(list(optimizer.state[p]))
        orders.append(seen)
    assert orders[1] == orders[0]


def test_a_group_that_is_added_later_is_refused():
    for lib in (torch, funtorch):
        optimizer = lib.optim.LBFGS([lib.nn.Parameter(lib.ones(1))])
        optimizer.add_param_group({"params": [lib.nn.Parameter(lib.ones(1))]})
        with pytest.raises(AssertionError, match="Expected exactly one param_group, but got 2"):
            optimizer.step(lambda: 1.0)
