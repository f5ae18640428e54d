"""Momentum that moves against the rate: ``momentum`` of a group, or the first of its ``betas``."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentValueError
from ..optimizer import Optimizer
from .base import per_group


def uses_betas(optimizer: Optimizer) -> bool:
    """Whether momentum is the first beta. Raises ValueError for an optimiser without momentum."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ArgumentValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


def put_momentum(group: dict[str, Any], value: Any, betas: bool) -> None:
    """Set a group's momentum."""
    if betas:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def start(optimizer: Optimizer, base: Any, most: Any, betas: bool, anew: bool) -> tuple[list[Any], list[Any]]:
    """The least and the most momentum of each group; ``anew``: put them there, and begin with the most."""
    bases, mosts = per_group("base_momentum", optimizer, base), per_group("max_momentum", optimizer, most)
    if anew:
        for group, low, high in zip(optimizer.param_groups, bases, mosts, strict=True):
            put_momentum(group, high, betas)
            group["max_momentum"], group["base_momentum"] = high, low
    return bases, mosts
