"""What all optimisers share: groups, hooks, saved states, step counters, duplicates, errors; and those made of optax."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import optax
import pytest
import torch

import funtorch

LIBS = (torch, funtorch)
ALL = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Adafactor", "Muon"]
COUNTING = [name for name in ALL if name not in ("SGD", "Muon")]


def pair(lib):
    return lib.nn.Parameter(lib.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=lib.float64)), lib.nn.Parameter(
        lib.tensor([[3.0]], dtype=lib.float64)
    )


def set_grads(lib, params, *values):
    for p, value in zip(params, values, strict=True):
        p.grad = None if value is None else lib.full_like(p, value)


def flat(params):
    return np.concatenate([p.detach().numpy().ravel() for p in params])


# Parameters and groups


@pytest.mark.parametrize("name", ALL)
def test_groups_have_options_of_their_own(name):
    ends = []
    for lib in LIBS:
        p, q = pair(lib)
        optimizer = getattr(lib.optim, name)([{"params": [p]}, {"params": q, "lr": 0.5}], lr=0.1)
        for step in range(4):
            set_grads(lib, (p, q), 0.3 - step, 0.2)
            optimizer.step()
        ends.append((flat((p, q)), {k: v for k, v in optimizer.param_groups[1].items() if k != "params"}, repr(optimizer)))
    np.testing.assert_allclose(ends[1][0], ends[0][0], rtol=1e-8, atol=1e-3 if name == "Muon" else 1e-10)
    assert ends[1][1:] == ends[0][1:]


@pytest.mark.parametrize("name", COUNTING)
def test_a_parameter_without_a_gradient_is_not_counted(name):
    ends = []
    for lib in LIBS:
        p, q = pair(lib)
        optimizer = getattr(lib.optim, name)([p, q], lr=0.1)
        for step in range(6):
            set_grads(lib, (p, q), None if step in (1, 2) else 0.5 - step, None if step == 4 else 0.1 + step)
            optimizer.step()
            if step == 3:
                optimizer = copy.deepcopy(optimizer)
                p, q = optimizer.param_groups[0]["params"]
        ends.append((flat((p, q)), [float(optimizer.state[each]["step"]) for each in (p, q)]))
    assert ends[1][1] == ends[0][1] == [4.0, 5.0]
    np.testing.assert_allclose(ends[1][0], ends[0][0], rtol=1e-7)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop"])
def test_a_parameter_that_is_there_twice_takes_two_steps_and_a_warning(name):
    ends = []
    for lib in LIBS:
        p, _ = pair(lib)
        with pytest.warns(UserWarning, match="duplicate parameters"):
            optimizer = getattr(lib.optim, name)([p, p], lr=0.1)
        for _ in range(3):
            set_grads(lib, (p,), 0.5)
            optimizer.step()
        ends.append(flat((p,)))
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9)


def test_groups_added_later_and_frozen_parameters():
    ends = []
    for lib in LIBS:
        p, q = pair(lib)
        optimizer = lib.optim.Adam([p], lr=0.1)
        set_grads(lib, (p, q), 0.5, 0.5)
        optimizer.step()
        optimizer.add_param_group({"params": [q], "lr": 0.2})
        optimizer.step()
        optimizer.zero_grad()
        optimizer.step()
        assert p.grad is None
        ends.append(flat((p, q)))
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9)


def test_zero_grad_in_place():
    p, _ = pair(funtorch)
    p.grad = grad = funtorch.ones_like(p)
    funtorch.optim.SGD([p]).zero_grad(set_to_none=False)
    assert p.grad is grad
    assert grad.sum() == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda lib: lib.optim.SGD(lib.zeros(2)), lambda lib: lib.optim.SGD([]), lambda lib: lib.optim.SGD([3]),
        lambda lib: lib.optim.SGD([{"params": {lib.zeros(2), lib.ones(2)}}]),
        lambda lib: lib.optim.SGD([lib.zeros(2, requires_grad=True) * 2]),
        lambda lib: (lambda p: lib.optim.SGD([{"params": p}, {"params": p}]))(lib.zeros(2)),
        lambda lib: lib.optim.SGD([lib.zeros(2)]).add_param_group([lib.zeros(2)]),
        lambda lib: lib.optim.SGD([("a", lib.zeros(2)), lib.zeros(2)]),
        lambda lib: lib.optim.SGD([("a", lib.zeros(2))]).add_param_group({"params": [lib.zeros(2)]}),
        lambda lib: lib.optim.SGD([lib.zeros(2)]).add_param_group({"params": [("a", lib.zeros(2))]}),
        lambda lib: lib.optim.SGD([lib.zeros(2)]).load_state_dict(lib.optim.SGD([lib.zeros(2), lib.ones(2)]).state_dict()),
        lambda lib: lib.optim.SGD([lib.zeros(2)]).load_state_dict(lib.optim.SGD([{"params": [lib.zeros(2)]}, {"params": [lib.ones(2)]}]).state_dict()),
    ],
)  # fmt: skip
def test_what_is_refused(make):
    kinds = []
    for lib in LIBS:
        with pytest.raises(Exception) as raised:  # noqa: B017
            make(lib)
        kinds.append(raised.type)
    assert issubclass(kinds[1], kinds[0])


def test_named_parameters():
    model = funtorch.nn.Linear(2, 1)
    optimizer = funtorch.optim.SGD(model.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


# Closures and hooks


@pytest.mark.parametrize("name", ALL)
def test_a_closure_gives_the_loss_and_runs_with_gradients(name):
    p, _ = pair(funtorch)
    optimizer = getattr(funtorch.optim, name)([p])

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with funtorch.no_grad():
        assert optimizer.step(closure).item() == 14.25
    assert p.grad is not None


def test_hooks_in_their_order():
    seen = []
    for lib in LIBS:
        p, _ = pair(lib)
        optimizer, said = lib.optim.SGD([p], lr=0.1), []
        optimizer.register_step_pre_hook(lambda o, args, kwargs, said=said: said.append("before"))
        handle = optimizer.register_step_post_hook(lambda o, args, kwargs, said=said: said.append("after"))
        optimizer.register_state_dict_pre_hook(lambda o, said=said: said.append("saving"))
        optimizer.register_state_dict_post_hook(lambda o, state, said=said: said.append("saved 1"))
        optimizer.register_state_dict_post_hook(lambda o, state, said=said: said.append("saved 0"), prepend=True)
        optimizer.register_load_state_dict_pre_hook(lambda o, state, said=said: said.append("loading"))
        optimizer.register_load_state_dict_post_hook(lambda o, said=said: said.append("loaded"))
        optimizer.step()
        optimizer.load_state_dict(optimizer.state_dict())
        handle.remove()
        optimizer.step()
        seen.append(said)
    assert seen[1] == seen[0]
    assert len(seen[1]) == 8


def test_a_hook_that_changes_what_is_saved():
    p, _ = pair(funtorch)
    optimizer = funtorch.optim.SGD([p], lr=0.1)
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "epoch": 3})
    assert optimizer.state_dict()["epoch"] == 3


# Saved states


@pytest.mark.parametrize("name", ALL)
def test_a_pickled_optimizer_goes_on(name):
    p, q = pair(funtorch)
    optimizer = getattr(funtorch.optim, name)([p, q], lr=0.1)
    set_grads(funtorch, (p, q), 0.5, 0.1)
    optimizer.step()
    optimizer.state_dict()
    copied = pickle.loads(pickle.dumps(optimizer))
    others = copied.param_groups[0]["params"]
    for params, each in (((p, q), optimizer), (others, copied)):
        set_grads(funtorch, params, None, 0.3)
        each.step()
        set_grads(funtorch, params, 0.2, 0.3)
        each.step()
    np.testing.assert_array_equal(flat(others), flat((p, q)))


def test_a_state_through_a_file():
    p, q = pair(funtorch)
    optimizer = funtorch.optim.Adam([p, q], lr=0.1)
    set_grads(funtorch, (p, q), 0.5, 0.1)
    optimizer.step()
    file = io.BytesIO()
    funtorch.save(optimizer.state_dict(), file)
    file.seek(0)
    other = funtorch.optim.Adam([p, q], lr=7.0)
    other.load_state_dict(funtorch.load(file))
    assert other.param_groups[0]["lr"] == 0.1
    assert {k: v.tolist() for k, v in other.state[p].items()} == {k: v.tolist() for k, v in optimizer.state[p].items()}


def test_a_loaded_state_takes_the_parameters_dtype_but_for_the_step():
    p = funtorch.nn.Parameter(funtorch.zeros(2))
    optimizer = funtorch.optim.Adam([p])
    state = {
        "step": funtorch.tensor(3.0),
        "exp_avg": funtorch.ones(2, dtype=funtorch.float64),
        "exp_avg_sq": funtorch.ones(2, dtype=funtorch.float64),
    }
    saved = optimizer.state_dict()
    optimizer.load_state_dict({"state": {0: state}, "param_groups": saved["param_groups"]})
    assert [v.dtype for v in optimizer.state[p].values()] == [funtorch.float32] * 3
    assert optimizer.state[p]["exp_avg"] is not state["exp_avg"]


# Optimisers of one's own, and optax's


def test_an_optimizer_in_pytorchs_style():
    ends = []
    for lib in LIBS:

        class Signs(lib.optim.Optimizer):
            def __init__(self, params, lr=0.1, decay=0.9, lib=lib):
                super().__init__(params, {"lr": lr, "decay": decay})
                self.lib = lib

            def step(self, closure=None):
                with self.lib.no_grad():
                    for group in self.param_groups:
                        for p in group["params"]:
                            state = self.state[p]
                            if len(state) == 0:
                                state["average"] = self.lib.zeros_like(p)
                            state["average"].mul_(group["decay"]).add_(p.grad, alpha=1 - group["decay"])
                            p.add_(state["average"].sign(), alpha=-group["lr"])

        p, q = pair(lib)
        optimizer = Signs([p, q])
        for step in range(3):
            set_grads(lib, (p, q), 0.5 - step, 0.1)
            optimizer.step()
        other = Signs([p, q])
        other.load_state_dict(optimizer.state_dict())
        other.step()
        ends.append(flat((p, q)))
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-12)


def test_an_optimizer_without_a_step():
    class Bare(funtorch.optim.Optimizer):
        pass

    with pytest.raises(NotImplementedError, match="Bare must define step"):
        Bare([funtorch.zeros(1)], {}).step()


def test_an_optax_transformation():
    p, q = pair(funtorch)
    optimizer = funtorch.optim.from_optax(optax.adam(0.1))([p, q])
    theirs = pair(torch)
    other = torch.optim.Adam(theirs, lr=0.1)
    for step in range(5):
        set_grads(funtorch, (p, q), 0.5 - step, 0.1)
        set_grads(torch, theirs, 0.5 - step, 0.1)
        optimizer.step()
        other.step()
    np.testing.assert_allclose(flat((p, q)), flat(theirs), rtol=1e-6)
    set_grads(funtorch, (p, q), 0.5, None)
    with pytest.raises(ValueError, match="must be the same at each step"):
        optimizer.step()


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "NAdam", "Adafactor"])
def test_a_compiled_step_is_the_eager_one(name):
    ends = []
    for compiled in (False, True):
        p, q = pair(funtorch)
        optimizer = getattr(funtorch.optim, name)([p, q], lr=0.1)

        def step(p=p, q=q, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (p * p).sum() * q.sum()
            loss.backward()
            optimizer.step()
            return loss

        run = funtorch.compile(step) if compiled else step
        for _ in range(6):
            run()
        ends.append(flat((p, q)))
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-10)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
@pytest.mark.parametrize("other", ["foreach", "differentiable"])
def test_fused_excludes_other_kinds_of_steps(name, other):
    said = []
    for lib in LIBS:
        with pytest.raises(RuntimeError) as caught:
            getattr(lib.optim, name)(pair(lib), fused=True, **{other: True})
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("name", ["RAdam", "NAdam", "RMSprop", "ASGD", "Adamax", "Adam", "AdamW"])
def test_sparse_gradients_are_refused_in_torchs_words(name):
    said = []
    for lib in LIBS:
        p = lib.nn.Parameter(lib.ones(2, 2))
        p.grad = lib.ones(2, 2).to_sparse()
        with pytest.raises(RuntimeError) as caught:
            getattr(lib.optim, name)([p]).step()
        said.append(str(caught.value))
    assert said[0] == said[1]
