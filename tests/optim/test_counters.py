"""Step counters: each parameter's is its own, though those that count alike go into a step as one array."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch

import funtorch
from funtorch.optim.counters import Counters

LIBS = (torch, funtorch)
COUNTING = ["Adam", "NAdam", "RAdam", "ASGD", "Adagrad", "Adamax", "Adafactor"]


def trained(lib, name="Adam", steps=3):
    params = [lib.nn.Parameter(lib.tensor([1.0, 2.0, 3.0], dtype=lib.float64) + i) for i in range(3)]
    optimizer = getattr(lib.optim, name)(params, lr=0.1)
    return walk(lib, params, optimizer, steps)


def walk(lib, params, optimizer, steps=3):
    for step in range(steps):
        for i, p in enumerate(params):
            p.grad = lib.tensor(np.sin(np.arange(3.0) + step + i))
        optimizer.step()
    return params, optimizer


def forget(optimizer, params):
    optimizer.state[params[1]]["step"].zero_()


def move_all(optimizer, params):
    for p in params:
        optimizer.state[p]["step"] += 5


def replace(optimizer, params):
    optimizer.state[params[0]]["step"] = optimizer.state[params[0]]["step"] * 2


def drop(optimizer, params):
    del optimizer.state[params[2]]


@pytest.mark.parametrize("change", [forget, move_all, replace, drop])
@pytest.mark.parametrize("name", COUNTING)
def test_a_counter_that_is_changed_is_changed_alone(name, change):
    ends = []
    for lib in LIBS:
        params, optimizer = trained(lib, name)
        change(optimizer, params)
        walk(lib, params, optimizer)
        ends.append(([float(optimizer.state[p]["step"]) for p in params], [p.detach().numpy() for p in params]))
    assert ends[1][0] == ends[0][0]
    np.testing.assert_allclose(ends[1][1], ends[0][1], rtol=1e-7)


def test_those_that_count_alike_are_one_array():
    params, optimizer = trained(funtorch)
    counts = Counters([optimizer.state[p] for p in params])
    assert counts.shared == (0, 0, 0)
    assert len({id(optimizer.state[p]["step"]) for p in params}) == 3
    forget(optimizer, params)
    counts = Counters([optimizer.state[p] for p in params])
    assert counts.shared == (0, 1, 0)
    assert len(counts.leaders) == 2


def test_those_of_a_loaded_state_are_again_one():
    params, optimizer = trained(funtorch)
    file = io.BytesIO()
    funtorch.save(optimizer.state_dict(), file)
    file.seek(0)
    optimizer.load_state_dict(funtorch.load(file))
    states = [optimizer.state[p] for p in params]
    assert len({id(s["step"]._payload) for s in states}) == 3
    assert Counters(states).shared == (0, 0, 0)
    walk(funtorch, params, optimizer, 1)
    assert len({id(s["step"]._payload) for s in states}) == 1


def test_views_and_numpys_memory_are_counted_one_by_one():
    params, optimizer = trained(funtorch)
    kept = funtorch.full((3,), 3.0)
    for p, step in zip(params, kept.unbind(), strict=True):
        optimizer.state[p]["step"] = step
    walk(funtorch, params, optimizer, 2)
    assert kept.tolist() == [5.0, 5.0, 5.0]
    seen = optimizer.state[params[0]]["step"].numpy()
    walk(funtorch, params, optimizer, 1)
    assert seen == 6


@pytest.mark.parametrize("compiled", [False, True])
def test_a_file_has_one_for_each(compiled):
    params, optimizer = trained(funtorch)
    take = lambda: walk(funtorch, params, optimizer, 1) and None  # noqa: E731
    take = funtorch.compile(take) if compiled else take
    for _ in range(3):
        take()
    file = io.BytesIO()
    funtorch.save(optimizer.state_dict(), file)
    file.seek(0)
    steps = [state["step"] for state in torch.load(file)["state"].values()]
    assert [float(step) for step in steps] == [6.0, 6.0, 6.0]
    assert len({step.data_ptr() for step in steps}) == 3


def test_compiled_and_eager_steps_take_turns():
    params, optimizer = trained(funtorch)
    others, other = trained(funtorch)
    take = funtorch.compile(lambda: (optimizer.step(), None)[1])
    for _ in range(5):
        take()
    optimizer.step()
    params[0].grad = None
    optimizer.step()
    for step in range(7):
        if step == 6:
            others[0].grad = None
        other.step()
    assert [float(optimizer.state[p]["step"]) for p in params] == [9.0, 10.0, 10.0]
    np.testing.assert_allclose([p.detach().numpy() for p in params], [p.detach().numpy() for p in others], rtol=1e-9)
