"""Accelerators: without one, what PyTorch's CPU build says; with one, on chips that only look like GPUs."""

from __future__ import annotations

from types import SimpleNamespace

import jax
import pytest
import torch

import funtorch
from funtorch.chips import NoChipError

needs_no_gpu = pytest.mark.skipif(jax.default_backend() != "cpu", reason="there is a GPU")
CALLS = {
    "cuda.is_available": (), "cuda.device_count": (), "cuda.memory_allocated": (), "cuda.max_memory_allocated": (), "cuda.memory_reserved": (),
    "cuda.max_memory_reserved": (), "cuda.is_bf16_supported": (), "cuda.is_initialized": (), "cuda.empty_cache": (), "cuda.manual_seed": (0,),
    "cuda.manual_seed_all": (0,), "cuda.get_rng_state_all": (), "cuda.get_arch_list": (), "accelerator.is_available": (), "accelerator.device_count": (),
    "accelerator.current_accelerator": (), "mps.is_available": (), "xpu.is_available": (), "xpu.device_count": (), "backends.mps.is_available": (),
    "backends.mps.is_built": (), "backends.cudnn.is_available": (), "backends.cudnn.version": (), "backends.cuda.is_built": (),
}  # fmt: skip
REFUSED = {
    "cuda.synchronize": (), "cuda.current_device": (), "cuda.get_device_name": (), "cuda.get_device_capability": (), "cuda.get_device_properties": (0,),
    "cuda.mem_get_info": (), "cuda.Stream": (), "cuda.Event": (), "cuda.current_stream": (), "cuda.default_stream": (), "cuda.initial_seed": (),
    "cuda.get_rng_state": (), "cuda.init": (), "cuda.ipc_collect": (), "cuda.FloatTensor": (1,), "accelerator.synchronize": (),
    "accelerator.current_device_index": (), "accelerator.set_device_index": (0,), "mps.empty_cache": (), "accelerator.current_stream": (),
    "accelerator.empty_host_cache": (), "accelerator.reset_accumulated_memory_stats": (),
}  # fmt: skip


def found(lib, name):
    for part in name.split("."):
        lib = getattr(lib, part)
    return lib


@needs_no_gpu
@pytest.mark.parametrize("name", CALLS)
def test_without_one_the_same_answers(name):
    assert found(funtorch, name)(*CALLS[name]) == found(torch, name)(*CALLS[name])


@needs_no_gpu
@pytest.mark.parametrize("name", REFUSED)
def test_without_one_the_same_errors(name):
    kinds = []
    for lib in (torch, funtorch):
        with pytest.raises(Exception) as raised:  # noqa: B017
            found(lib, name)(*REFUSED[name])
        kinds.append(raised)
    assert issubclass(kinds[1].type, kinds[0].type)
    assert "device" in str(kinds[1].value) or "GPU" in str(kinds[1].value)


@needs_no_gpu
def test_without_one_seeding_it_leaves_the_cpu_alone():
    funtorch.manual_seed(3)
    before = funtorch.get_rng_state().tolist()
    funtorch.cuda.manual_seed_all(5)
    assert funtorch.get_rng_state().tolist() == before
    with pytest.raises(TypeError, match="not str"):
        funtorch.cuda.manual_seed("a")


@needs_no_gpu
def test_set_device_without_one():
    with pytest.raises(RuntimeError, match="no cuda device here: JAX sees only cpu"):
        funtorch.cuda.set_device(0)


# Chips that look like GPUs


def chip(number):
    stats = {"bytes_in_use": 100 + number, "peak_bytes_in_use": 300, "bytes_limit": 1000, "pool_bytes": 500}
    return SimpleNamespace(
        device_kind="NVIDIA H200", compute_capability="9.0", core_count=132, memory_stats=lambda: stats, id=number, platform="gpu"
    )


@pytest.fixture(autouse=True)
def devices_found_anew():
    """What a test's pretended GPUs were found to be is forgotten, before the next asks for them."""
    yield
    funtorch.devices.jax_device.cache_clear()


@pytest.fixture
def two_gpus(monkeypatch):
    chips = {"gpu": [chip(0), chip(1)]}
    monkeypatch.setattr(funtorch.devices, "devices_of", lambda platform: chips.get(platform, []))
    yield chips
    funtorch.devices.set_current_index("gpu", 0)


@pytest.fixture
def working_gpu(monkeypatch):
    monkeypatch.setattr(funtorch.devices, "devices_of", lambda platform: jax.devices("cpu")[:1] if platform == "gpu" else [])


def test_what_they_are(two_gpus):
    cuda = funtorch.cuda
    assert (cuda.is_available(), cuda.device_count(), cuda.current_device()) == (True, 2, 0)
    assert cuda.get_device_name(1) == "NVIDIA H200"
    assert cuda.get_device_capability("cuda:1") == (9, 0)
    found = cuda.get_device_properties(funtorch.device("cuda"))
    assert (found.name, found.major, found.minor, found.total_memory, found.multi_processor_count) == (
        "NVIDIA H200",
        9,
        0,
        1000,
        132,
    )
    assert cuda.is_bf16_supported() and cuda.is_bf16_supported(including_emulation=False) and cuda.is_tf32_supported()
    assert cuda.get_arch_list() == ["sm_90"]
    assert cuda.can_device_access_peer(0, 1) and not cuda.can_device_access_peer(0, 0)
    two_gpus["gpu"][0].compute_capability = "gfx942"
    assert cuda.get_device_capability(0) == (0, 0)


def test_their_memory(two_gpus):
    cuda = funtorch.cuda
    assert [cuda.memory_allocated(i) for i in range(2)] == [100, 101]
    assert (cuda.max_memory_allocated(), cuda.memory_reserved(), cuda.max_memory_reserved()) == (300, 500, 500)
    assert cuda.mem_get_info(1) == (899, 1000)
    assert cuda.memory_stats()["bytes_limit"] == 1000
    assert "300" in cuda.memory_summary() and "cuda:0" in cuda.memory_summary()
    for call in (cuda.reset_peak_memory_stats, lambda: cuda.set_per_process_memory_fraction(0.5)):
        with pytest.warns(UserWarning, match="JAX"):
            call()


def test_the_current_one(two_gpus):
    cuda = funtorch.cuda
    cuda.set_device(1)
    assert cuda.current_device() == 1
    assert funtorch.devices.jax_device(funtorch.device("cuda")).id == 1
    assert funtorch.devices.jax_device(funtorch.device("cuda:0")).id == 0
    with cuda.device(0):
        assert cuda.current_device() == 0
        with cuda.device(None), cuda.device(-1), cuda.device_of(funtorch.zeros(1)):
            assert cuda.current_device() == 0
    assert cuda.current_device() == 1
    for wrong in (2, "cuda:5", -3):
        with pytest.raises(NoChipError, match="invalid device ordinal"):
            cuda.set_device(wrong)
    with pytest.raises(ValueError, match="expected a cuda device, but got: cpu"):
        cuda.set_device("cpu")


def test_the_accelerator_is_the_gpu(two_gpus):
    accelerator = funtorch.accelerator
    assert accelerator.current_accelerator() == funtorch.device("cuda")
    assert accelerator.device_count() == 2
    with accelerator.device_index(1):
        assert accelerator.current_device_index() == 1
        with accelerator.device_index(None):
            assert accelerator.current_device_idx() == 1
    assert accelerator.current_device_index() == 0
    assert accelerator.memory_allocated(1) == 101
    assert accelerator.get_memory_info() == (900, 1000)
    assert accelerator.max_memory_allocated() == 300
    assert accelerator.memory_stats()["pool_bytes"] == accelerator.memory_reserved() == accelerator.max_memory_reserved() == 500


def test_a_tpu_is_an_accelerator_too(monkeypatch):
    monkeypatch.setattr(funtorch.devices, "devices_of", lambda platform: [chip(0)] if platform == "tpu" else [])
    assert funtorch.accelerator.current_accelerator() == funtorch.device("tpu")
    assert not funtorch.cuda.is_available()


def test_seeds_reach_what_gpus_draw_from(two_gpus):
    funtorch.cuda.manual_seed_all(7)
    assert funtorch.initial_seed() == funtorch.cuda.initial_seed() == 7
    states = funtorch.cuda.get_rng_state_all()
    assert len(states) == 2
    drawn = funtorch.rand(2).tolist()
    funtorch.cuda.set_rng_state_all(states)
    assert funtorch.rand(2).tolist() == drawn
    funtorch.cuda.set_rng_state(states[0], "cuda:1")
    assert funtorch.cuda.get_rng_state(1).tolist() == states[0].tolist()
    funtorch.cuda.seed_all()
    assert funtorch.initial_seed() != 7


def test_streams(working_gpu):
    cuda = funtorch.cuda
    first, second = cuda.current_stream(), cuda.Stream()
    assert first is cuda.default_stream()
    assert second.device == funtorch.device("cuda:0")
    with cuda.stream(second), cuda.stream(None):
        assert cuda.current_stream() is second
        second.wait_stream(first)
    with second:
        assert cuda.current_stream() is second
    assert cuda.current_stream() is first
    assert second.query()
    assert not cuda.is_current_stream_capturing()


def test_events_tell_the_time(working_gpu):
    first, last = (funtorch.cuda.Event(enable_timing=True) for _ in range(2))
    with pytest.raises(RuntimeError, match="must be recorded"):
        first.elapsed_time(last)
    first.record()
    (funtorch.ones(200, 200) @ funtorch.ones(200, 200)).sum()
    last.record(funtorch.cuda.current_stream())
    assert 0 < first.elapsed_time(last) < 60_000
    assert first.query()
    event = funtorch.cuda.current_stream().record_event()
    event.wait()
    assert first.elapsed_time(event) >= first.elapsed_time(last)
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        first.elapsed_time(funtorch.cuda.Event())


# Mixed precision's older names


@needs_no_gpu
def test_amp_switches_itself_off_without_a_gpu():
    with pytest.warns(UserWarning, match="Disabling"), pytest.warns(FutureWarning, match="torch.amp.GradScaler"):
        scaler = funtorch.cuda.amp.GradScaler()
    with pytest.warns(UserWarning, match="Disabling"), pytest.warns(FutureWarning, match="torch.amp.autocast"):
        automatic = funtorch.cuda.amp.autocast()
    p = funtorch.tensor([1.0], requires_grad=True)
    optimizer = funtorch.optim.SGD([p], lr=0.1)
    with automatic:
        loss = (p * p).sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert p.item() == pytest.approx(0.8)
    assert (scaler.get_scale(), scaler.is_enabled(), scaler.state_dict()) == (1.0, False, {})


def test_nvtx_ranges():
    nvtx = funtorch.cuda.nvtx
    assert [nvtx.range_push("a"), nvtx.range_push("b"), nvtx.range_pop(), nvtx.range_pop(), nvtx.range_pop()] == [0, 1, 1, 0, -1]
    nvtx.mark("here")
    with nvtx.range("c"):
        assert nvtx.range_push("d") == 1
        nvtx.range_pop()


def test_unknown_names():
    for module, name in ((funtorch.cuda, "nothing"), (funtorch, "nothing"), (funtorch.cuda, "StrangeTensor")):
        with pytest.raises(AttributeError, match=name):
            getattr(module, name)


MOVES = {
    "Tensor.cuda": lambda t: t.ones(2).cuda(), "Tensor.to": lambda t: t.ones(2).to("cuda:0"), "ones": lambda t: t.ones(2, device="cuda"),
    "Tensor.xpu": lambda t: t.ones(2).xpu(), "Module.cuda": lambda t: t.nn.Linear(1, 1).cuda(), "Module.xpu": lambda t: t.nn.Linear(1, 1).xpu(),
    "Linear": lambda t: t.nn.Linear(1, 1, device="cuda"), "type": lambda t: t.ones(2).type("torch.cuda.FloatTensor"),
}  # fmt: skip


@needs_no_gpu
@pytest.mark.parametrize("name", MOVES)
def test_moves_to_what_is_not_there_raise_what_torch_raises(name):
    with pytest.raises((AssertionError, RuntimeError)) as caught:
        MOVES[name](torch)
    with pytest.raises(NoChipError) as ours:
        MOVES[name](funtorch)
    assert isinstance(ours.value, caught.type)


@pytest.mark.parametrize("given", [("cpu", -1), ("cuda:01",), ("cuda:-1",)], ids=str)
def test_numbers_that_no_device_has(given):
    for lib in (torch, funtorch):
        with pytest.raises(RuntimeError):
            lib.device(*given)


@needs_no_gpu
@pytest.mark.parametrize("name", "rand randn randperm randint zeros tensor rand_like randn_like randint_like ones_like".split())
@pytest.mark.parametrize("device", ["cuda", 0])
def test_nothing_is_made_on_a_device_that_is_not_there(name, device):
    given = {"randint": (3, (2,)), "tensor": ([1.0],), "randint_like": (funtorch.ones(2), 3)}
    args = given.get(name, (funtorch.ones(2),) if name.endswith("_like") else (2,))
    for kind in (RuntimeError, AssertionError):  # PyTorch raises one or the other, by how it was built
        with pytest.raises(kind, match="cuda.* is not there"):
            getattr(funtorch, name)(*args, device=device)


@needs_no_gpu
def test_generators_types_and_casts_of_devices_that_are_not_there():
    for device in ("cuda", "cuda:7", "xpu", "meta"):
        with pytest.raises(RuntimeError):
            funtorch.Generator(device)
    with pytest.raises(RuntimeError, match="cuda device"):
        funtorch.ones(1).cuda("cpu")
    with pytest.raises(RuntimeError, match="is not there"):
        funtorch.ones(1).type(funtorch.cuda.FloatTensor)
    with pytest.raises(TypeError, match="not available"):
        funtorch.set_default_tensor_type(funtorch.cuda.FloatTensor)
    assert funtorch.cuda.default_generators == ()


def test_the_processor_has_no_index():
    assert funtorch.Generator("cpu:1").device == funtorch.device("cpu")
    assert funtorch.ones(1).to("cpu:3").device == funtorch.device("cpu")
