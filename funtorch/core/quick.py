"""The shortest way through `call`, for one or two Tensors: NumPy's arrays, a host program that stays, nobody who watches.

Small eager work spends its time in Python; here nothing is looked at twice. Whatever is out of the ordinary goes to `call`.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from .call import call
from .handle import make
from .op import Op
from .state import state, watched
from .tape import record_again


def call_one(op: Op, x: Any) -> Any:
    """``call(op, (x,))``."""
    payload = x._payload
    if watched or x._source is not None or op.view or type(payload) is not ndarray:
        return call(op, (x,))
    key = ((payload.shape, payload.dtype),)
    slot = op.programs.get(key)
    if slot is None or slot.stays is None or not slot.single:
        return call(op, (x,))
    slot.recent = True
    result = make(slot.stays(payload)[0])
    if x._requires and state.grad:
        record_again(slot.recipes, 1, op, (x,), [payload], key, result)
    return result


def call_two(op: Op, x: Any, y: Any) -> Any:
    """``call(op, (x, y))``; one of them may be an array that stands for a number."""
    first = x if type(x) is ndarray else x._payload
    second = y if type(y) is ndarray else y._payload
    if watched or type(first) is not ndarray or type(second) is not ndarray:
        return call(op, (x, y))
    key = ((first.shape, first.dtype), (second.shape, second.dtype))
    slot = op.programs.get(key)
    if slot is None or slot.stays is None or not slot.single:
        return call(op, (x, y))
    marks = 0
    if first is not x:
        if x._source is not None:
            return call(op, (x, y))
        marks = 2 * x._requires
    if second is not y:
        if y._source is not None:
            return call(op, (x, y))
        marks += y._requires
    slot.recent = True
    result = make(slot.stays(first, second)[0])
    if marks and state.grad:
        record_again(slot.recipes, marks, op, (x, y), [first, second], key, result)
    return result
