"""GradScaler against PyTorch's, step by step; with infinite gradients; compiled."""

import math
import pickle
import warnings

import numpy as np
import pytest
import torch

import funtorch

BOTH = (torch, funtorch)
OPTIONS = {"init_scale": 8.0, "growth_interval": 3, "growth_factor": 4.0, "backoff_factor": 0.25}


def _run(lib, losses, clip=False, **options):
    weight = lib.nn.Parameter(lib.tensor([1.0, 2.0]))
    optimizer = lib.optim.SGD([weight], lr=0.1)
    scaler = lib.amp.GradScaler("cpu", **(OPTIONS | options))
    seen = []
    for factor in losses:
        optimizer.zero_grad()
        loss = scaler.scale((weight * factor).sum())
        loss.backward()
        if clip:
            scaler.unscale_(optimizer)
            lib.nn.utils.clip_grad_norm_([weight], 0.5)
        scaler.step(optimizer)
        scaler.update()
        seen.append((loss.item(), weight.tolist(), scaler.get_scale(), scaler.state_dict()))
    return seen


LOSSES = [1.0, 2.0, math.inf, 1.0, 1.0, 1.0, math.nan, 3.0, math.inf, math.inf, 1.0]


@pytest.mark.parametrize("clip", [False, True])
def test_steps(clip):
    for want, got in zip(_run(torch, LOSSES, clip), _run(funtorch, LOSSES, clip), strict=True):
        assert got[0] == pytest.approx(want[0], nan_ok=True)
        assert got[1] == pytest.approx(want[1], abs=1e-6)
        assert got[2:] == want[2:]


def test_disabled_does_what_the_code_would_without_it():
    (want, got) = (_run(lib, [1.0, 2.0], enabled=False) for lib in BOTH)
    for w, g in zip(want, got, strict=True):
        assert (g[0], g[2], g[3]) == (w[0], w[2], w[3]) and g[1] == pytest.approx(w[1])


def test_scale_takes_what_holds_tensors():
    for lib in BOTH:
        scaler = lib.amp.GradScaler("cpu", init_scale=4.0)
        both = scaler.scale([lib.ones(1), (lib.ones(2), lib.ones(3))])
        assert isinstance(both, list) and isinstance(both[1], tuple) and both[1][1].tolist() == [4.0] * 3
        with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
            scaler.scale(3)


def _stepped(lib):
    weight = lib.nn.Parameter(lib.ones(1))
    optimizer, scaler = lib.optim.SGD([weight], lr=0.1), lib.amp.GradScaler("cpu")
    scaler.scale(weight.sum()).backward()
    return scaler, optimizer


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        (("unscale_", "unscale_"), "has already been called on this optimizer"),
        (("step", "unscale_"), "is being called after step"),
        (("step", "step"), "has already been called since the last update"),
    ],
)
def test_the_order_of_calls(calls, message):
    for lib in BOTH:
        scaler, optimizer = _stepped(lib)
        getattr(scaler, calls[0])(optimizer)
        with pytest.raises(RuntimeError, match=message):
            getattr(scaler, calls[1])(optimizer)


def test_wrong_use():
    for lib in BOTH:
        scaler = lib.amp.GradScaler("cpu")
        scaler.scale(lib.ones(1))
        with pytest.raises(AssertionError, match="No inf checks"):
            scaler.update()
        with pytest.raises(AssertionError, match="growth factor"):
            lib.amp.GradScaler("cpu", growth_factor=1.0)
        with pytest.raises(AssertionError, match="backoff factor"):
            lib.amp.GradScaler("cpu", backoff_factor=1.0)
        with pytest.raises(RuntimeError, match="source state dict is empty"):
            scaler.load_state_dict({})
        weight = lib.nn.Parameter(lib.ones(1).half())
        weight.grad = lib.ones(1).half()
        with pytest.raises(ValueError, match="FP16"):
            scaler.unscale_(lib.optim.SGD([weight], lr=0.1))
        with pytest.raises(RuntimeError, match="Closure"):
            scaler.step(lib.optim.SGD([weight], lr=0.1), closure=lambda: None)


def test_state_goes_both_ways_with_pytorch():
    scalers = [lib.amp.GradScaler("cpu", **OPTIONS) for lib in BOTH]
    state = {"scale": 32.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 7, "_growth_tracker": 5}
    for scaler in scalers:
        scaler.load_state_dict(state)
        assert scaler.state_dict() == state
    scalers[1].load_state_dict(scalers[0].state_dict())
    assert scalers[1].get_scale() == 32.0 and scalers[1].get_growth_interval() == 7


def test_compiled_step_equals_eager():
    def trained(wrap):
        funtorch.manual_seed(0)
        model = funtorch.nn.Linear(3, 2)
        optimizer = funtorch.optim.Adam(model.parameters(), lr=0.1)
        scaler = funtorch.amp.GradScaler("cpu", **OPTIONS)

        @wrap
        def step(x, factor):
            optimizer.zero_grad()
            with funtorch.autocast("cpu"):
                loss = (model(x).float() * factor).square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            return loss

        seen = []
        for factor in LOSSES:
            x = funtorch.randn(4, 3)
            seen.append(step(x, funtorch.tensor(factor)).item())
            seen += [scaler.get_scale(), *model.weight.flatten().tolist()]
        return seen, step

    want, _ = trained(lambda f: f)
    got, step = trained(funtorch.compile)
    assert step.counts["compiled"] >= 5
    assert got == pytest.approx(want, rel=2e-2, abs=1e-3, nan_ok=True)


def test_without_the_device_it_warns_and_is_disabled():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scaler = funtorch.amp.GradScaler("tpu")
    assert "no tpu device" in str(caught[0].message) and not scaler.is_enabled()
    assert (scaler.get_scale(), scaler.state_dict(), scaler.scale(3)) == (1.0, {}, 3)


@pytest.mark.parametrize("call", ["step", "update", "unscale_"])
def test_nothing_was_scaled(call):
    said = []
    for lib in BOTH:
        weight = lib.nn.Parameter(lib.ones(2))
        weight.grad = lib.ones(2)
        optimizer = lib.optim.SGD([weight])
        with pytest.raises(AssertionError) as caught:
            getattr(lib.amp.GradScaler("cpu"), call)(*(() if call == "update" else (optimizer,)))
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_a_step_without_gradients_is_refused():
    for lib in BOTH:
        weight = lib.nn.Parameter(lib.ones(2))
        scaler = lib.amp.GradScaler("cpu")
        scaler.scale(weight.sum())
        with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer."):
            scaler.step(lib.optim.SGD([weight]))
        assert scaler._get_growth_tracker() == 0


def test_halves_times_a_scale_that_has_no_half():
    for lib in (torch, funtorch):
        scaler = lib.amp.GradScaler("cpu", init_scale=2.0**17)
        loss, losses = scaler.scale(lib.tensor(0.125).half()), scaler.scale(lib.tensor([0.125]).half())
        assert (str(loss.dtype), loss.item()) == ("torch.float32", 2.0**14)
        assert (str(losses.dtype), losses.item()) == ("torch.float16", 2.0**14)


def test_stages_and_pickling_between_updates():
    from funtorch.amp.grad_scaler import OptState

    model = funtorch.nn.Linear(2, 1)
    optimizer = funtorch.optim.SGD(model.parameters(), 0.1)
    scaler = funtorch.amp.GradScaler("cpu")
    scaler.scale(model(funtorch.ones(1, 2)).sum()).backward()
    pickle.dumps(scaler)
    scaler.unscale_(optimizer)
    assert scaler._per_optimizer_states[id(optimizer)]["stage"] is OptState.UNSCALED
    with pytest.raises(AssertionError, match="may only be pickled"):
        pickle.dumps(scaler)
    scaler.step(optimizer)
    assert scaler._per_optimizer_states[id(optimizer)]["stage"] is OptState.STEPPED
    scaler.update()
    assert pickle.loads(pickle.dumps(scaler)).state_dict() == scaler.state_dict()


def test_a_fused_optimiser_takes_gradients_of_halves():
    model = funtorch.nn.Linear(2, 1).half()
    scaler = funtorch.amp.GradScaler("cpu", init_scale=2.0)
    for fused in (True, False):
        optimizer = funtorch.optim.SGD(model.parameters(), 0.1, fused=fused)
        optimizer.zero_grad()
        scaler.scale(model(funtorch.ones(1, 2).half()).sum()).backward()
        if fused:
            before = model.bias.item()
            scaler.step(optimizer)
            assert model.bias.item() == pytest.approx(before - 0.1, abs=1e-3)
            scaler.update()
        else:
            with pytest.raises(ValueError, match="FP16"):
                scaler.step(optimizer)


def test_sparse_gradients_are_unscaled_too():
    found = []
    for lib in BOTH:
        lib.manual_seed(0)
        table = lib.nn.Embedding(4, 2, sparse=True)
        optimizer, scaler = lib.optim.SGD(table.parameters(), 0.1), lib.amp.GradScaler("cpu", init_scale=4.0)
        for factor in (1.0, float("inf")):
            optimizer.zero_grad()
            scaler.scale(table(lib.tensor([1, 1, 2])).sum() * factor).backward()
            scaler.step(optimizer)
            scaler.update()
        found.append((table.weight.tolist(), scaler.get_scale()))
    assert found[0][1] == found[1][1] == 2.0
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-6)
