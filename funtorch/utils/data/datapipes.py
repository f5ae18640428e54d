"""Data pipes, which PyTorch keeps only for old programs: their names are here, and say so when they are used."""

from __future__ import annotations

from typing import Any, NoReturn

from ...errors import MissingError

NAMES = [
    "DFIterDataPipe",
    "DataChunk",
    "IterDataPipe",
    "MapDataPipe",
    "argument_validation",
    "functional_datapipe",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
    "runtime_validation",
    "runtime_validation_disabled",
]


def _missing(name: str) -> type:
    """A class that nothing is an instance of: calling it or deriving from it raises NotImplementedError."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise MissingError(
            f"utils.data.{name} is not there: data pipes are not supported. Write a Dataset or an IterableDataset."
        )

    return type(name, (), {"__new__": refuse, "__init_subclass__": refuse, "__doc__": "Not there: NotImplementedError."})


globals().update({name: _missing(name) for name in NAMES})


def __getattr__(name: str) -> Any:  # for type checkers, which do not see what is made above
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
