"""The columns of the table: which aspect, at which dtype, on how many samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from parity import aspects, derivatives

FORWARD_DTYPES = ("float32", "float64", "int64", "bool", "complex64", "complex128", "bfloat16")
# Where an aspect is tried at one dtype, it is the first of these that the op supports.
PREFERENCE = ("float64", "complex128", "float32", "int64", "bool", "bfloat16")


@dataclass(frozen=True)
class Column:
    """An aspect at a dtype (None: the op's first in PREFERENCE), on at most ``count`` samples."""

    name: str
    aspect: Callable | None
    dtype: str | None
    count: int
    differentiates: bool = False

    @property
    def group(self) -> str:
        """The aspect's name without the dtype."""
        return self.name.split(":")[0]

    def dtype_for(self, info: Any) -> torch.dtype | None:
        """The dtype to draw samples of, or None where PyTorch does not support it for this op."""
        if self.differentiates:
            supported = info.supported_backward_dtypes("cpu")
        else:
            supported = info.supported_dtypes("cpu")
        names = (self.dtype,) if self.dtype else PREFERENCE
        found = [getattr(torch, name) for name in names if getattr(torch, name) in supported]
        return found[0] if found else None


FORWARD = tuple(
    Column(f"forward:{dtype}", aspects.forward, dtype, 4 if dtype in ("float32", "float64") else 3) for dtype in FORWARD_DTYPES
)
RANDOM = Column("random", aspects.forward, None, 3)
ERRORS = Column("errors", None, None, 6)
COLUMNS = (
    *FORWARD,
    RANDOM,
    Column("method", aspects.method, None, 3),
    Column("operator", aspects.operator, None, 3),
    Column("inplace", aspects.inplace, None, 3),
    Column("out", aspects.out, None, 3),
    Column("alias", aspects.alias, None, 2),
    Column("grad:float64", derivatives.grad, "float64", 4, True),
    Column("grad:complex128", derivatives.grad, "complex128", 2, True),
    Column("gradgrad", derivatives.gradgrad, "float64", 2, True),
    Column("inplace_grad", derivatives.inplace_grad, "float64", 2, True),
    Column("jvp", derivatives.jvp, "float64", 2, True),
    Column("vmap", aspects.vmap, None, 2),
    Column("compile", aspects.compile, None, 2),
    ERRORS,
)


def choose(groups: list[str] | None, dtypes: list[str] | None, samples: int) -> list[Column]:
    """The columns of these aspects and dtypes, with counts scaled to ``samples`` (4 is the default)."""
    chosen = [column for column in COLUMNS if not groups or column.group in groups]
    chosen = [column for column in chosen if not dtypes or column.dtype is None or column.dtype in dtypes]
    return [replace(column, count=max(1, round(column.count * samples / 4))) for column in chosen]
