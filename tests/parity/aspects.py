"""The aspects of an op that involve no derivative: each is a program run on both Sides from the same sample.

An aspect takes a `Form` (the entry's functions on one Side) and a sample, and returns a result to be compared.
It raises SkipError where PyTorch itself has nothing to say, and MissingError where the candidate lacks the form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from parity import gauge, lookup
from parity.candidate import Side, SkipError
from parity.samples import Call, prepare, result_tensors


@dataclass
class Form:
    """A database entry on one Side; for the candidate, with PyTorch's answer for the sample at hand."""

    info: Any
    side: Side
    expected: Any = None

    def call(self, sample: Any, function: Callable | None = None) -> Call:
        """The sample as a call of the entry's function form, or of another form. Seeds the generator."""
        function = function or lookup.op_function(self.info, self.side)
        call = prepare(sample, function, self.side)
        self.side.seed(lookup.SEED)
        return call

    def fixed_call(self, sample: Any, form: Callable | None = None) -> Call:
        """The same, with a result that is free of signs and order (`gauge`)."""
        call = self.call(sample, form)
        inner, name, module = call.function, self.info.name, self.side.module

        def function(*args: Any, **kwargs: Any) -> Any:
            return gauge.fixed(name, module, inner(*args, **kwargs), args, kwargs)

        call.function = function
        return call

    def variant(self, get: Callable) -> Callable:
        """``get(info, side)``, where None (PyTorch has no such form) raises SkipError."""
        form = get(self.info, self.side)
        if form is None:
            raise SkipError("no such form")
        return form


def forward(form: Form, sample: Any) -> Any:
    """The function's result, and its arguments after the call: some ops write into them."""
    call = form.fixed_call(sample)
    with form.side.module.no_grad():
        return call(), call.tensors()


def method(form: Form, sample: Any) -> Any:
    """The Tensor method's result."""
    call = form.fixed_call(sample, form.variant(lookup.method_form))
    with form.side.module.no_grad():
        return call()


def operator(form: Form, sample: Any) -> Any:
    """The result of Python's operator, where the sample has no more than its operands."""
    call = form.fixed_call(sample, form.variant(lookup.operator_form))
    if call.kwargs:
        raise SkipError("an operator takes no keywords")
    with form.side.module.no_grad():
        return call()


def inplace(form: Form, sample: Any) -> Any:
    """The in-place form's result, the tensor it wrote, and whether they are one object.

    Where PyTorch refuses (the result does not fit), so must the candidate, and leave the tensor as it was.
    """
    call = form.fixed_call(sample, form.variant(lookup.inplace_form))
    try:
        with form.side.module.no_grad():
            result = call()
    except RuntimeError:
        # PyTorch's addbmm_ resizes its tensor before it refuses: what is asked for is the tensor as it was.
        kept = (form.call(sample) if form.side.oracle else call).args[0]
        return "raised RuntimeError", kept, False
    return result, call.args[0], result is call.args[0]


def out(form: Form, sample: Any) -> Any:
    """What ``out=`` holds after the call: given in the right shape, and given empty, which grows."""
    if not form.info.supports_out:
        raise SkipError("no out=")
    module, results = form.side.module, []
    with module.no_grad():
        plain = form.call(sample)()
        for i, like in enumerate((module.zeros_like, lambda tensor: module.empty(0, dtype=tensor.dtype))):
            if form.side.oracle or form.expected[i] is not None:
                written, returned = _written(form, sample, plain, like) or (None, None)
                # Some forms return nothing in PyTorch: then nothing is asked about what comes back.
                asked = form.side.oracle or form.expected[i][1]
                results.append(None if written is None else (written, returned if asked else False))
            else:
                results.append(None)
    if results == [None, None]:
        raise SkipError("PyTorch takes no out= here")
    return results


def _written(form: Form, sample: Any, plain: Any, like: Callable) -> Any:
    """The tensors given as out= after the call, or None where PyTorch refuses them or leaves them as they were."""
    outs = [like(tensor) for tensor in result_tensors(form.side, plain)]
    single = form.side.is_tensor(plain)
    call = form.call(sample)
    call.kwargs["out"] = outs[0] if single else outs if type(plain) is list else tuple(outs)
    try:
        result = result_tensors(form.side, call())
    except (RuntimeError, TypeError, IndexError):
        if form.side.oracle:
            return None
        raise
    if form.side.oracle and form.info.name not in gauge.UNINITIALISED and not _all_equal(outs, plain):
        return None
    name, module = form.info.name, form.side.module
    fixed = gauge.fixed(name, module, outs[0] if single else outs, tuple(call.args), call.kwargs)
    return fixed, bool(result) and result[0] is outs[0]


def _all_equal(outs: list[torch.Tensor], plain: Any) -> bool:
    pairs = zip(outs, result_tensors(Side("torch", torch), plain), strict=True)
    return all(torch.allclose(a.to_dense(), b.to_dense(), equal_nan=True) for a, b in pairs)


def alias(form: Form, sample: Any) -> Any:
    """The results under the entry's other names."""
    if not form.info.aliases:
        raise SkipError("no alias")
    results = []
    for other in form.info.aliases:
        call = form.fixed_call(sample, form.side.find(other.name.removeprefix("torch.")))
        with form.side.module.no_grad():
            results.append(call())
    return results


LANES = 2


def vmap(form: Form, sample: Any) -> Any:
    """For every way to batch: vmap on the candidate; on PyTorch a loop that stacks, where its own vmap runs."""
    call = form.fixed_call(sample)
    ways = _ways_to_batch(len(call.tensors()))
    if not form.side.oracle:
        known = zip(ways, form.expected, strict=True)
        return [None if answer is None else _batched(form, call, way) for way, answer in known]
    results = [_looped(form, call, way) for way in ways]
    if all(result is None for result in results):
        raise SkipError("PyTorch's vmap refuses this")
    return results


def _ways_to_batch(count: int) -> list[tuple[int | None, ...]]:
    singles = [tuple(0 if j == i else None for j in range(count)) for i in range(count)]
    together = [(0,) * count, (-1,) * count] if count else []
    return list(dict.fromkeys([*singles, *together]))


def _flat(call: Call) -> Callable:
    def flat(*tensors: Any) -> tuple[Any, ...]:
        return tuple(result_tensors(call.side, call.with_tensors([t.clone() for t in tensors])()))

    return flat


def _lanes(call: Call, in_dims: tuple[int | None, ...]) -> tuple[list[list[Any]], list[Any]]:
    """The arguments of each lane, and the same stacked along in_dims."""
    tensors = [tensor.detach() for tensor in call.tensors()]
    lanes = [[t if d is None else _lane(t, k) for t, d in zip(tensors, in_dims, strict=True)] for k in range(LANES)]
    stack = call.side.module.stack
    stacked = [
        t if d is None else stack([lane[i] for lane in lanes], 0 if d == 0 else t.ndim)
        for i, (t, d) in enumerate(zip(tensors, in_dims, strict=True))
    ]
    return lanes, stacked


def _lane(tensor: Any, lane: int) -> Any:
    # Scaling keeps what a sample may rely on (positive definite, sorted, triangular, within a range), and a power
    # of two keeps it exact. Integers are often indices: their lanes are equal.
    inexact = tensor.is_floating_point() or tensor.is_complex()
    return tensor * (1 - lane / 16) if inexact and lane else tensor


def _batched(form: Form, call: Call, in_dims: tuple[int | None, ...]) -> Any:
    _, stacked = _lanes(call, in_dims)
    with form.side.module.no_grad():
        return form.side.find("func.vmap")(_flat(call), in_dims=in_dims)(*stacked)


def _looped(form: Form, call: Call, in_dims: tuple[int | None, ...]) -> Any:
    flat = _flat(call)
    try:
        lanes, stacked = _lanes(call, in_dims)
        with torch.no_grad():
            torch.func.vmap(flat, in_dims=in_dims)(*stacked)
            results = [flat(*lane) for lane in lanes]
        return tuple(torch.stack(column) for column in zip(*results, strict=True)) or None
    except Exception:
        return None


def compile(form: Form, sample: Any) -> Any:
    """Three calls under compile (two recordings, then the program); PyTorch's eager result is what is expected."""
    call = form.fixed_call(sample)

    def run(*tensors: Any) -> Any:
        return call.with_tensors(list(tensors))()

    compiled = run if form.side.oracle else form.side.find("compile")(run)
    results = []
    for _ in range(3):
        form.side.seed(lookup.SEED)
        with form.side.module.no_grad():
            results.append(compiled(*call.tensors()))
    return results
