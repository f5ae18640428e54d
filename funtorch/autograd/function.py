"""autograd.Function: an operation with a derivative of its own, that works under every transform."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.handle import Handle
from ..core.python_node import apply_body
from ..core.state import state
from ..core.trees import flatten, unflatten
from ..errors import MissingError, OpError


class FunctionCtx:
    """What ``forward`` hands to ``backward``: saved Tensors, and attributes of the user's choice."""

    def __init__(self) -> None:
        self._saved: tuple = ()
        self._saved_for_forward: tuple = ()
        self._dirty: tuple = ()
        self._not_differentiable: frozenset = frozenset()
        self.materialize_grads = True
        self.needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep Tensors (or None) for ``backward``, which finds them in ``ctx.saved_tensors``."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Handle):
                raise TypeError(f"save_for_backward can only save variables, but argument {len(self._saved)} is of type {type(tensor).__name__}")
        self._saved = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep Tensors for ``jvp``."""
        self._saved_for_forward = tensors

    @property
    def saved_tensors(self) -> tuple:
        return self._saved or self._saved_for_forward

    saved_variables = saved_tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs were changed in place."""
        self._dirty = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no gradient."""
        self._not_differentiable = frozenset(map(id, args))

    def set_materialize_grads(self, value: bool) -> None:
        """Whether a cotangent that is absent comes as zeros (the default) or as None."""
        self.materialize_grads = bool(value)


class _Body:
    """A user's Function with its arguments, as the tape applies it."""

    def __init__(self, function: type[Function], leaves: list[Any], spec: Any, where: list[int], count: int) -> None:
        self.function = function
        self.leaves, self.spec, self.where, self.count = leaves, spec, where, count
        self.ctx = FunctionCtx()
        self.name = f"{function.__name__}Backward"
        self.output_spec: Any = None
        self.tensor_outputs: list[int] = []
        self.output_leaves: list[Any] = []
        self.fixed: set[int] = set()

    @property
    def materialize(self) -> bool:
        return self.ctx.materialize_grads

    def forward(self, *tensors: Any) -> list[Any]:
        leaves = list(self.leaves)
        for i, tensor in zip(self.where, tensors, strict=True):
            leaves[i] = tensor
        args, kwargs = unflatten(self.spec, leaves)
        self.ctx.needs_input_grad = tuple(isinstance(a, Handle) and a._requires for a in args)
        if self.function._separate():
            output = self.function.forward(*args, **kwargs)
            self.function.setup_context(self.ctx, args, output)
        else:
            output = self.function.forward(self.ctx, *args, **kwargs)
        single = not isinstance(output, tuple)
        outs = [output] if single else list(output)
        self.output_spec = single
        self.output_leaves = outs
        self.tensor_outputs = [i for i, o in enumerate(outs) if isinstance(o, Handle)]
        self.fixed = {k for k, i in enumerate(self.tensor_outputs) if id(outs[i]) in self.ctx._not_differentiable}
        return [outs[i] for i in self.tensor_outputs]

    def backward(self, *cotangents: Any) -> list[Any]:
        full: list[Any] = [None] * len(self.output_leaves)
        for i, cotangent in zip(self.tensor_outputs, cotangents, strict=True):
            full[i] = cotangent
        grads = self.function.backward(self.ctx, *full)
        grads = list(grads) if isinstance(grads, tuple) else [grads]
        while len(grads) > self.count and grads[-1] is None:
            grads.pop()
        if len(grads) != self.count:
            raise OpError(f"function {self.name} returned an incorrect number of gradients (expected {self.count}, got {len(grads)})")
        flat = []
        args, _ = unflatten(self.spec, self.leaves)
        for arg, grad in zip(args, grads, strict=True):
            flat += [grad] if isinstance(arg, Handle) else []
        return flat

    def jvp(self, tangents: list[Any]) -> list[Any] | None:
        if self.function.jvp is Function.jvp:
            return None
        args, _ = unflatten(self.spec, self.leaves)
        given = iter(tangents)
        dots = self.function.jvp(self.ctx, *(next(given) if isinstance(a, Handle) else None for a in args))
        return list(dots) if isinstance(dots, tuple) else [dots]

    def differentiable(self, number: int) -> bool:
        return number not in self.fixed


class Function:
    """An operation with a derivative of its own.

    Subclasses define static methods ``forward`` and ``backward``, and optionally ``setup_context`` and ``jvp``; they are used
    through ``apply``. ``forward(ctx, *args)`` may set up ``ctx`` itself, or ``forward(*args)`` leave that to
    ``setup_context(ctx, inputs, output)``. ``backward(ctx, *cotangents)`` returns a gradient (or None) for each argument.

    Differs from PyTorch: no ``vmap`` method is needed, and ``jvp`` is derived from ``backward`` where it isn't given.

    >>> import funtorch as torch
    >>> class Square(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return 2 * ctx.saved_tensors[0] * g
    >>> torch.func.grad(Square.apply)(torch.tensor(3.0))
    tensor(6.)
    """

    generate_vmap_rule = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise MissingError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        raise MissingError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise MissingError("You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        raise MissingError("You must implement the jvp function for custom autograd.Function to use it with forward mode AD.")

    @classmethod
    def _separate(cls) -> bool:
        return cls.setup_context is not Function.setup_context

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward``, and record ``backward`` on the tape."""
        # Only arguments that are Tensors themselves take part; containers are handed through as they are.
        leaves, spec = flatten((args, kwargs), is_leaf=lambda x: any(x is a for a in args))
        where = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Handle)]
        body = _Body(cls, leaves, spec, where, len(args))
        tensors = [leaves[i] for i in where]
        results = apply_body(body, tensors)
        outs = list(body.output_leaves)
        for i, result in zip(body.tensor_outputs, results, strict=True):
            outs[i] = _settled(body, tensors, outs[i], result)
        return outs[0] if body.output_spec else tuple(outs)


def _settled(body: _Body, tensors: list[Any], returned: Any, result: Any) -> Any:
    """An input that ``forward`` changed in place takes the result's place on the tape; other results are Tensors of their own."""
    if any(returned is dirty for dirty in body.ctx._dirty):
        for tensor in tensors:
            if tensor is returned:
                tensor._requires, tensor._node, tensor._output = result._requires, result._node, result._output
                return tensor
    return result


def once_differentiable(fn: Callable) -> Callable:
    """Mark a ``backward`` that can't itself be differentiated: doing so raises RuntimeError."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        recording, state.grad = state.grad, False
        try:
            outputs = fn(ctx, *args)
        finally:
            state.grad = recording
        if not recording or not any(isinstance(a, Handle) and a._requires for a in args):
            return outputs
        return _refusing(outputs)

    return wrapper


class _Refusal(Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        return tuple(t if t is None else t.clone() for t in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise OpError("trying to differentiate twice a function that was marked with @once_differentiable")


def _refusing(outputs: Any) -> Any:
    outs = outputs if isinstance(outputs, tuple) else (outputs,)
    marked = [o if o is None else o.detach().requires_grad_() for o in outs]
    refused = _Refusal.apply(*marked)
    return refused if isinstance(outputs, tuple) else refused[0]
