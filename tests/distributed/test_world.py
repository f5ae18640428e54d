"""A world of one process, as PyTorch's own with one: ranks, groups, collectives, DistributedDataParallel."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.distributed
from funtorch.distributed.distributed_c10d import ReduceOp as ReduceOpByItsModule

import funtorch

BOTH = pytest.mark.parametrize("torch", [torch, funtorch], ids=["torch", "funtorch"])


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch):
    """Both frameworks' worlds of this process."""
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    funtorch.distributed.init_process_group("gloo", rank=0, world_size=1)
    yield
    for each in (torch, funtorch):
        if each.distributed.is_initialized():
            each.distributed.destroy_process_group()


@BOTH
def test_ranks_and_groups(torch, world):
    d = torch.distributed
    assert d.is_available() and d.is_initialized() and d.is_gloo_available()
    assert (d.get_rank(), d.get_world_size(), str(d.get_backend())) == (0, 1, "gloo")
    assert d.get_process_group_ranks(d.group.WORLD) == [0] and d.group.WORLD is d.GroupMember.WORLD
    assert d.get_global_rank(d.group.WORLD, 0) == d.get_group_rank(d.group.WORLD, 0) == 0
    some = d.new_group([0])
    assert (d.get_rank(some), d.get_world_size(some), some.rank(), some.size()) == (0, 1, 0, 1)
    assert d.get_node_local_rank(3) == 3
    assert d.Backend("GLOO") == d.Backend.GLOO == "gloo"
    assert d.get_default_backend_for_device("cpu") == "gloo"
    d.destroy_process_group()
    assert not d.is_initialized() and d.group.WORLD is None


@BOTH
def test_collectives_give_back_what_they_got(torch, world):
    d = torch.distributed
    x = torch.arange(4.0)
    for op in (d.ReduceOp.SUM, d.ReduceOp.MAX, d.ReduceOp.PRODUCT, d.ReduceOp.MIN):
        assert d.all_reduce(x, op=op) is None
        d.reduce(x, 0, op)
    d.broadcast(x, src=0)
    work = d.all_reduce(x, async_op=True)
    assert work.wait() and work.is_completed()
    outs = {name: torch.zeros(4) for name in ("gathered", "into", "gather", "scatter", "reduced", "single")}
    d.all_gather([outs["gathered"]], x)
    d.all_gather_single(outs["into"], x)
    d.gather(x, [outs["gather"]], dst=0)
    d.scatter(outs["scatter"], [x], src=0)
    d.reduce_scatter(outs["reduced"], [x])
    d.all_to_all_single(outs["single"], x)
    for name, value in outs.items():
        np.testing.assert_array_equal(value.numpy(), [0, 1, 2, 3], err_msg=name)
    np.testing.assert_array_equal(x.numpy(), [0, 1, 2, 3])
    d.barrier()
    d.monitored_barrier()


@BOTH
def test_objects(torch, world):
    d = torch.distributed
    gathered, given = [None], {"loss": [1.0, 2.0]}
    d.all_gather_object(gathered, given)
    assert gathered == [given] and gathered[0] is not given
    gathered = [None]
    d.gather_object(given, gathered, dst=0)
    assert gathered == [given]
    objects, out = ["a", 2], [None]
    d.broadcast_object_list(objects, src=0)
    d.scatter_object_list(out, [given], src=0)
    assert objects == ["a", 2] and out == [given]


@pytest.mark.parametrize("name", ["get_rank", "get_world_size", "get_backend", "barrier", "destroy_process_group", "new_group"])
@BOTH
def test_before_there_is_a_world(torch, name):
    error, message = (AssertionError, "cannot be None") if name == "destroy_process_group" else (ValueError, "has not been init")
    with pytest.raises(error, match=message):
        getattr(torch.distributed, name)()


WRONG = {
    "twice": (ValueError, lambda t: t.distributed.init_process_group("gloo")),
    "no tensor": (TypeError, lambda t: t.distributed.all_reduce(3)),
    "no list": (TypeError, lambda t: t.distributed.all_gather(t.ones(2), t.ones(2))),
    "gather without list": (ValueError, lambda t: t.distributed.gather(t.ones(2), None, dst=0)),
    "scatter without list": (ValueError, lambda t: t.distributed.scatter(t.ones(2), None, src=0)),
    "sizes": (RuntimeError, lambda t: t.distributed.all_gather([t.ones(3)], t.ones(2))),
    "number of places": (RuntimeError, lambda t: t.distributed.all_gather([t.ones(2), t.ones(2)], t.ones(2))),
    "local rank": (RuntimeError, lambda t: t.distributed.get_node_local_rank()),
}


@pytest.mark.parametrize("name", WRONG)
@BOTH
def test_wrong_calls(torch, name, world):
    error, wrong = WRONG[name]
    with pytest.raises(error):
        wrong(torch)


def test_what_the_environment_says(monkeypatch):
    d = funtorch.distributed
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    with pytest.raises(NotImplementedError, match=r"rank=1, world_size=2.*a world of one process"):
        d.init_process_group("nccl", init_method="env://")
    assert not d.is_initialized()
    d.init_process_group("nccl", rank=0, world_size=1)
    assert d.get_backend() == "nccl"
    d.destroy_process_group()
    monkeypatch.setenv("WORLD_SIZE", "1")
    with pytest.raises(ValueError, match="no rank 1 in a world of 1"):
        d.init_process_group()


def test_a_rank_that_is_not_there(world):
    with pytest.raises(ValueError, match=r"broadcast\(\): rank 3 is not in the group, whose ranks are \[0\]"):
        funtorch.distributed.broadcast(funtorch.ones(1), 3)


def test_names_of_its_modules():
    assert ReduceOpByItsModule is funtorch.distributed.ReduceOp


@BOTH
def test_distributed_data_parallel(torch, world):
    d, nn = torch.distributed, torch.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    parallel = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=10)
    assert parallel.module is model and isinstance(parallel, nn.Module)
    assert list(parallel.state_dict()) == [f"module.{name}" for name in model.state_dict()]
    x = torch.tensor([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]])
    with parallel.no_sync():
        parallel(x).pow(3).sum().backward()
    once = model[0].weight.grad.clone()
    parallel(x).pow(3).sum().backward()
    np.testing.assert_allclose(model[0].weight.grad.numpy(), 2 * once.numpy(), rtol=1e-5)
    parallel.eval()
    assert not model.training
    with pytest.raises(RuntimeError, match="any parameter that requires a gradient"):
        nn.parallel.DistributedDataParallel(nn.Linear(1, 1).requires_grad_(False))
    d.destroy_process_group()
    with pytest.raises(ValueError, match="has not been initialized"):
        nn.parallel.DistributedDataParallel(model)
