"""Seeds of the GPUs: their numbers are drawn by the global generator, so seeding them seeds it. Nothing where there is no GPU."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core import generators
from ..errors import ArgumentTypeError
from .devices import GPUS


def manual_seed(seed: int) -> None:
    """Seed what the current GPU draws from; nothing where there is no GPU. Raises TypeError for what is no number."""
    if not hasattr(seed, "__int__"):
        raise ArgumentTypeError(f"manual_seed(): argument 'seed' must be int, not {type(seed).__name__}")
    if GPUS.is_available():
        generators.manual_seed(int(seed))


manual_seed_all = manual_seed


def seed() -> None:
    """Seed what the GPUs draw from by the system's entropy; nothing where there is no GPU."""
    if GPUS.is_available():
        generators.seed()


seed_all = seed


def initial_seed() -> int:
    """The seed in use. Raises RuntimeError where there is no GPU."""
    GPUS.index()
    return generators.initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """The state of what a GPU draws from. Raises RuntimeError if it is not there."""
    GPUS.index(device)
    return generators.get_rng_state()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Go on from a state. Raises RuntimeError if the GPU is not there."""
    GPUS.index(device)
    generators.set_rng_state(new_state)


def get_rng_state_all() -> list[Any]:
    """The state for each GPU: the same for all, none where there is none."""
    return [generators.get_rng_state() for _ in GPUS.all()]


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Go on from the states that `get_rng_state_all` gave."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
