"""How far an epoch has come, so that another DataLoader, in another process, can go on from there.

Keys are drawn anew from the generators as they were when the epoch began, and those of batches that were yielded are passed
over. What was still to be drawn from the default generator will be: it is the whole program's, whose checkpoint keeps it.
Samples are not loaded again: only a stream that can't tell its own state is read over up to the place.
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import ArgumentValueError
from . import _tensors

_OTHER_WORKERS = (
    "DataLoader.load_state_dict(state_dict): each worker has a stream of its own, and the state is of num_workers={}, this "
    "DataLoader has num_workers={}."
)
_NOT_A_STATE = "DataLoader.load_state_dict(state_dict): not the state of a DataLoader; it has no {!r}."


@dataclasses.dataclass
class Progress:
    """An epoch under way.

    Args:
        generators: the states of the generators when it began.
        base_seed: what the workers' seeds are made of.
        drew_seed: whether ``base_seed`` was drawn in this epoch; workers that persist keep theirs.
        given: how many batches each worker has given; one number where the main process loads.
        turn: the worker whose batch comes next.
        finished: whether the epoch has ended.
        iterator: yields the batches; it can ask the workers for their states.
    """

    generators: list[Any]
    base_seed: int
    drew_seed: bool
    given: list[int]
    turn: int = 0
    finished: bool = False
    iterator: weakref.ref[Any] | None = None

    def state(self, loader: Any) -> dict[str, Any]:
        """The state_dict of the loader."""
        iterator = None if self.iterator is None else self.iterator()
        workers = None if iterator is None else iterator.worker_states()
        if self.finished:
            if workers is None or not loader.persistent_workers:
                return fresh_state(loader)
            again = [state | {"given": 0} for state in workers]
            return fresh_state(loader) | {"base_seed": self.base_seed, "workers": again}
        drawn = loader.num_workers > 0 or sum(self.given) > 0
        return {
            "generators": self.generators,
            "begun": True,
            "drawn": drawn,
            "base_seed": self.base_seed,
            "drew_seed": self.drew_seed,
            "given": list(self.given),
            "turn": self.turn,
            "workers": workers,
            "dataset": None if loader.num_workers else dataset_state(loader.dataset),
        }


def fresh_state(loader: Any) -> dict[str, Any]:
    """The state of a loader whose next epoch has not begun."""
    return {
        "generators": generator_states(loader),
        "begun": False,
        "drawn": False,
        "base_seed": None,
        "drew_seed": False,
        "given": [0] * max(loader.num_workers, 1),
        "turn": 0,
        "workers": None,
        "dataset": None if loader.num_workers else dataset_state(loader.dataset),
    }


def check_state(loader: Any, state: dict[str, Any]) -> None:
    """Raise ValueError for what is no state of such a loader."""
    for name in ("generators", "begun", "drawn", "base_seed", "drew_seed", "given", "turn", "workers", "dataset"):
        if name not in state:
            raise ArgumentValueError(_NOT_A_STATE.format(name))
    if loader._is_stream and len(state["given"]) != max(loader.num_workers, 1):
        raise ArgumentValueError(_OTHER_WORKERS.format(len(state["given"]), loader.num_workers))


def _generators(loader: Any) -> list[Any]:
    """The generators that an epoch may draw from: the default one first, then those of the loader and its samplers."""
    found = [_tensors.default_generator()]
    for owner in (loader, loader.sampler, loader.batch_sampler, getattr(loader.batch_sampler, "sampler", None)):
        generator = getattr(owner, "generator", None)
        if hasattr(generator, "get_state") and all(generator is not other for other in found):
            found.append(generator)
    return found


def generator_states(loader: Any) -> list[Any]:
    """The states of the generators that an epoch may draw from, as Tensors."""
    return [generator.get_state() for generator in _generators(loader)]


@contextlib.contextmanager
def rewound(loader: Any, saved: dict[str, Any]) -> Iterator[None]:
    """Put the generators into the states of the epoch's beginning; of the default one, until the end of the block only."""
    default, *others = _generators(loader)
    state, *states = saved["generators"]
    for generator, own in zip(others, states, strict=False):
        generator.set_state(own)
    if not saved["begun"]:
        yield
        return
    now = default.get_state()
    default.set_state(state)
    try:
        yield
    finally:
        default.set_state(now)


def dataset_state(dataset: Any) -> Any:
    """What a dataset that has ``state_dict`` and ``load_state_dict`` says of itself; None of another."""
    return dataset.state_dict() if _has_state(dataset) else None


def restore_dataset(dataset: Any, state: Any) -> bool:
    """Give a dataset its state, if there is one; whether that was done."""
    if state is None or not _has_state(dataset):
        return False
    dataset.load_state_dict(state)
    return True


def _has_state(dataset: Any) -> bool:
    return all(callable(getattr(dataset, name, None)) for name in ("state_dict", "load_state_dict"))


def note_random() -> tuple:
    """What `random_state` needs to know of this moment, taken quickly: a worker does so after each batch."""
    return random.getstate(), np.random.get_state(), _tensors.default_generator().twister.mark()


def random_state(noted: tuple) -> dict[str, Any]:
    """The states of Python's, NumPy's and the default generator that `note_random` noted, in plain types."""
    (version, words, gauss), (_, key, *rest), mark = noted
    generator = _tensors.default_generator()
    now = generator.twister.mark()
    generator.twister.go_back(mark)
    torch = generator.get_state()
    generator.twister.go_back(now)
    return {
        "python": [version, np.array(words, np.uint64).tobytes(), gauss],
        "numpy": [key.tobytes(), *rest],
        "torch": torch,
    }


def restore_random_state(state: dict[str, Any] | None) -> None:
    """Put the three generators into the states that `random_state` gave; None leaves them."""
    if state is None:
        return
    version, words, gauss = state["python"]
    random.setstate((version, tuple(np.frombuffer(words, np.uint64).tolist()), gauss))
    key, *rest = state["numpy"]
    np.random.set_state(("MT19937", np.frombuffer(key, np.uint32), *rest))
    _tensors.default_generator().set_state(state["torch"])
