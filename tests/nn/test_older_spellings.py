"""What PyTorch warns of, funtorch warns of with the same class, and nothing else."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import funtorch


def image(t: Any) -> Any:
    return t.ones(1, 2, 4, 4)


def mixed_masks(t: Any) -> Any:
    x = t.ones(2, 3, 4)
    return t.nn.MultiheadAttention(4, 2)(x, x, x, key_padding_mask=t.zeros(3, 2).bool(), attn_mask=t.zeros(2, 2))


def older_hook(t: Any, inputs: Callable, layer: str = "ReLU", *sizes: int) -> Any:
    module = getattr(t.nn, layer)(*sizes)
    module.register_backward_hook(lambda m, gi, go: None)
    return module(inputs(t)).sum().backward()


CASES: dict[str, Callable] = {
    "cuda.amp.autocast": lambda t: t.cuda.amp.autocast(enabled=False),
    "cuda.amp.GradScaler": lambda t: t.cuda.amp.GradScaler(enabled=False),
    "cuda.amp.custom_fwd": lambda t: t.cuda.amp.custom_fwd(lambda ctx, x: x),
    "cuda.amp.custom_bwd": lambda t: t.cuda.amp.custom_bwd(lambda ctx, g: g),
    "cpu.amp.autocast": lambda t: t.cpu.amp.autocast(),
    "cpu.amp.GradScaler": lambda t: t.cpu.amp.GradScaler(enabled=False),
    "elementwise_mean": lambda t: t.nn.functional.mse_loss(t.ones(2), t.zeros(2), reduction="elementwise_mean"),
    "size_average": lambda t: t.nn.MSELoss(size_average=False),
    "gumbel_softmax's eps": lambda t: t.nn.functional.gumbel_softmax(t.ones(2), eps=1e-3),
    "gumbel_softmax": lambda t: t.nn.functional.gumbel_softmax(t.ones(2)),
    "grid_sample": lambda t: t.nn.functional.grid_sample(image(t), t.zeros(1, 3, 2, 2)),
    "grid_sample as it should be": lambda t: t.nn.functional.grid_sample(image(t), t.zeros(1, 3, 2, 2), align_corners=False),
    "affine_grid": lambda t: t.nn.functional.affine_grid(t.zeros(1, 2, 3), [1, 2, 3, 5]),
    "embedding_bag": lambda t: t.nn.functional.embedding_bag(t.ones(3, 2), t.tensor([0, 1]), t.tensor([0])),
    "mixed masks": mixed_masks,
    "Container": lambda t: t.nn.Container(a=t.nn.ReLU()),
    "NLLLoss2d": lambda t: t.nn.NLLLoss2d(),
    "Hardtanh": lambda t: t.nn.Hardtanh(min_value=-2),
    "clip_grad_norm": lambda t: t.nn.utils.clip_grad_norm([t.nn.Parameter(t.ones(1))], 1.0),
    "clip_grad_norm_ of a list": lambda t: t.nn.utils.clip_grad_norm_([], 1.0),
    "clip_grad_norm_ of a generator": lambda t: t.nn.utils.clip_grad_norm_((p for p in ()), 1.0),
    "stateless": lambda t: t.nn.utils.stateless.functional_call(t.nn.Linear(1, 1), {}, (t.ones(1),)),
    "a complex module": lambda t: t.nn.Linear(1, 1).to(t.complex64),
    "kl_div": lambda t: t.nn.functional.kl_div(t.zeros(2), t.ones(2)),
    "kl_div's old argument": lambda t: t.nn.functional.kl_div(t.zeros(2), t.ones(2), size_average=True),
    "an older hook at a leaf": lambda t: older_hook(t, lambda t: t.ones(2, requires_grad=True)),
    "an older hook of weights alone": lambda t: older_hook(t, lambda t: t.ones(2, 3), "Linear", 3, 2),
    "an older hook of one op": lambda t: older_hook(t, lambda t: t.ones(2, requires_grad=True) * 2),
}


@pytest.mark.parametrize("case", CASES)
def test_older_spellings(case):
    seen = []
    for t in (torch, funtorch):
        for path in ("cuda.amp", "cpu.amp", "nn.utils.stateless"):
            importlib.import_module(f"{t.__name__}.{path}")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            CASES[case](t)
        seen.append({each.category for each in caught})
    assert seen[0] == seen[1]


def test_the_container():
    with pytest.warns(FutureWarning):
        container = funtorch.nn.Container(a=funtorch.nn.ReLU())
    assert list(dict(container.named_children())) == ["a"]


def test_embedding_bag_in_the_older_order():
    table, places, starts = funtorch.arange(6.0).view(3, 2), funtorch.tensor([0, 2]), funtorch.tensor([0])
    with pytest.warns(UserWarning, match="Argument order"):
        older = funtorch.nn.functional.embedding_bag(table, places, starts)
    assert older.tolist() == funtorch.nn.functional.embedding_bag(places, table, starts).tolist() == [[2.0, 3.0]]
