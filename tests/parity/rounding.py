"""Rounding: where the two differ, the candidate must lie as near to the exact result as PyTorch does.

A sum depends on its order, and after cancellation any two orders differ by more than a tolerance can grant. So a third
run, of PyTorch in a wider dtype on the same values, says which of the two is off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from parity import lookup
from parity.aspects import Form
from parity.candidate import MismatchError
from parity.compare import tolerance
from parity.convert import Array, Crossing, Record, at_rest, portable
from parity.samples import Call, prepare
from parity.verdict import ORACLE

WIDER = {"bfloat16": "float32", "float16": "float32", "float32": "float64", "complex64": "complex128"}


class Widening(Crossing):
    """Takes a sample to the oracle with its tensors and dtypes widened."""

    def strided(self, value: torch.Tensor) -> Any:
        wide = WIDER.get(at_rest(value).dtype)
        return super().strided(value.to(getattr(torch, wide)) if wide else value)

    def dtype(self, value: torch.dtype) -> Any:
        made = super().dtype(value)
        return getattr(torch, WIDER.get(str(made).rsplit(".", 1)[-1], ""), made)


class WideForm(Form):
    """The oracle's form of an entry, called with widened samples."""

    def call(self, sample: Any, function: Any = None) -> Call:
        function = function or lookup.op_function(self.info, self.side)
        return prepare(sample, function, self.side, Widening(self.side))


def check_as_near(form: Form, aspect: Any, sample: Any, actual: Any, expected: Any) -> None:
    """Raises MismatchError unless each number of ``actual`` is as near to the wide result as ``expected`` is."""
    wide = portable(ORACLE, aspect(WideForm(form.info, ORACLE), sample))
    for a, e, w in zip(_arrays(actual), _arrays(expected), _arrays(wide), strict=True):
        check_nearer(a, e, w)


def _arrays(value: Any) -> list[Array]:
    if isinstance(value, Array):
        return [value]
    if isinstance(value, Record):
        value = value.values
    return [array for item in value for array in _arrays(item)] if isinstance(value, tuple) else []


def check_nearer(actual: Array, expected: Array, wide: Array) -> None:
    """Raises MismatchError where ``actual`` is further from ``wide`` than ``expected`` is, beyond the tolerance."""
    if actual.dtype != expected.dtype or actual.value.shape != expected.value.shape:
        raise MismatchError("another dtype or shape")
    rtol, atol = tolerance((expected.dtype,))
    a, e, w = (array.value.astype(np.result_type(array.value, np.float64)) for array in (actual, expected, wide))
    with np.errstate(all="ignore"):
        granted = np.nan_to_num(np.abs(e - w)) + atol + rtol * np.abs(w)
        if not np.all((np.abs(a - w) <= granted) | (a == e) | (np.isnan(a) & np.isnan(e))):
            raise MismatchError("further from the exact result than PyTorch")
