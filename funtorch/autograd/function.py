"""autograd.Function: an operation with a derivative of its own, that works under every transform."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..cautions import caution
from ..core.handle import Handle, in_place_allowed, value_of
from ..core.meta import is_meta
from ..core.python_node import apply_body
from ..core.state import state
from ..core.trees import flatten, unflatten
from ..core.variables import depends
from ..core.writing import write
from ..dtypes import FROM_NUMPY
from ..errors import MissingError, OpError
from .context import FunctionCtx, Kept

NO_BACKWARD = (
    "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
)
NO_INSTANCE = (
    "{} should not be instantiated. The methods of an autograd function are static, so call them on the class: `apply` above all."
)
NO_CALL = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static "
    "forward method, and call `apply` of the class."
)


class _Body:
    """A user's Function with its arguments, as the tape applies it."""

    def __init__(self, function: type[Function], leaves: list[Any], spec: Any, where: list[int], count: int) -> None:
        self.function = function
        self.leaves, self.spec, self.where, self.count = leaves, spec, where, count
        self.ctx = FunctionCtx()
        self.name = f"{function.__name__}Backward"
        self.single = False
        self.outputs: list[Any] = []  # what forward returned
        self.tensor_outputs: list[int] = []
        self.fixed: set[int] = set()
        self.keeps: list[int] = []
        self.kept = Kept(self)

    @property
    def materialize(self) -> bool:
        return self.ctx.materialize_grads

    def again(self, tensors: Sequence[Any]) -> _Body:
        """The same Function with other Tensors as its arguments."""
        leaves = list(self.leaves)
        for i, tensor in zip(self.where, tensors, strict=True):
            leaves[i] = tensor
        return _Body(self.function, leaves, self.spec, self.where, self.count)

    def forward(self, *tensors: Any) -> list[Any]:
        output = self.run(self.ctx, tensors)
        self.single = not isinstance(output, tuple)
        self.outputs = [output] if self.single else list(output)
        self.tensor_outputs = [i for i, o in enumerate(self.outputs) if isinstance(o, Handle)]
        results = [self.outputs[i] for i in self.tensor_outputs]
        self.fixed = {k for k, out in enumerate(results) if id(out) in self.ctx._not_differentiable}
        self.keeps = self.kept.find(tensors, results)
        return results

    def settle(self) -> None:
        """Keep of arguments and results what backward needs: the values in ``ctx``, shapes and dtypes."""
        self.kept.freeze()
        for i in self.where:
            self.leaves[i] = Argument(self.leaves[i])
        self.outputs = [None] * len(self.outputs)

    def run(self, ctx: FunctionCtx, tensors: Sequence[Any]) -> Any:
        """The user's ``forward`` on these Tensors."""
        leaves = list(self.leaves)
        for i, tensor in zip(self.where, tensors, strict=True):
            leaves[i] = tensor
        args, kwargs = unflatten(self.spec, leaves)
        ctx.needs_input_grad = tuple(isinstance(a, Handle) and depends(a) for a in args)
        if not self.function._separate():
            return self.function.forward(ctx, *args, **kwargs)
        output = self.function.forward(*args, **kwargs)
        self.function.setup_context(ctx, args, output)
        return output

    def backward(self, application: Any, *cotangents: Any) -> list[Any]:
        full: list[Any] = [None] * len(self.outputs)
        for i, cotangent in zip(self.tensor_outputs, cotangents, strict=True):
            full[i] = cotangent
        with self.kept.lent(application):
            grads = self.function._pull(self.ctx, *full)
        grads = list(grads) if isinstance(grads, tuple) else [grads]
        while len(grads) > self.count and grads[-1] is None:
            grads.pop()
        if len(grads) != self.count:
            raise OpError(
                f"function {self.name} returned an incorrect number of gradients (expected {self.count}, got {len(grads)})"
            )
        args, _ = unflatten(self.spec, self.leaves)
        args = [Argument(a) if isinstance(a, Handle) else a for a in args]  # while it is applied they are still there
        return self._checked(list(zip(args, grads, strict=True)))

    def _checked(self, pairs: list[tuple[Any, Any]]) -> list[Any]:
        """The gradients of the arguments that are Tensors, of their shapes."""
        found = []
        for number, (arg, grad) in enumerate(pairs):
            if not isinstance(arg, Argument):
                if grad is not None:
                    raise OpError(
                        f"function {self.name} returned a gradient different from None at position {number + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            found.append(None if grad is None else _like(arg, grad, self.name, number))
        return found

    def jvp(self, tangents: list[Any]) -> list[Any] | None:
        if self.function.jvp is Function.jvp:
            return None
        args, _ = unflatten(self.spec, self.leaves)
        given = iter(tangents)
        dots = self.function.jvp(self.ctx, *(next(given) if isinstance(a, (Handle, Argument)) else None for a in args))
        dots = list(dots) if isinstance(dots, tuple) else [dots]
        return [dots[i] for i in self.tensor_outputs]

    def differentiable(self, number: int) -> bool:
        return number not in self.fixed


class Argument:
    """What is known of an argument that was a Tensor."""

    def __init__(self, tensor: Handle) -> None:
        payload = value_of(tensor)
        self.shape, self.dtype, self.has_data = tuple(payload.shape), payload.dtype, not is_meta(tensor)


def _like(arg: Argument, grad: Any, name: str, number: int) -> Any:
    """A gradient in the shape and dtype of its argument; RuntimeError where it can't be."""
    if not isinstance(grad, Handle):
        raise OpError(f"function {name}: expected Variable or None (got {type(grad).__name__}) at position {number + 1}")
    want, have = arg.shape, tuple(value_of(grad).shape)
    if want != have:
        fits = len(have) >= len(want) and all(w in (h, 1) for w, h in zip(want[::-1], have[::-1], strict=False))
        if not fits:
            raise OpError(
                f"Function {name} returned an invalid gradient at index {number} - got {list(have)} but expected shape "
                f"compatible with {list(want)}"
            )
        grad = grad.sum_to_size(*want)
    if is_meta(grad) is arg.has_data:
        raise OpError(
            f"Function {name} returned an invalid gradient at index {number}: of it and its argument, one is on the device 'meta' and "
            "has no data"
        )
    return grad if grad._payload.dtype == arg.dtype else grad.to(FROM_NUMPY[arg.dtype])


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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        caution(NO_INSTANCE.format(type(self)), DeprecationWarning)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise OpError(NO_CALL)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise MissingError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        raise MissingError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise MissingError(NO_BACKWARD)

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        raise MissingError(NO_BACKWARD)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        raise MissingError("You must implement the jvp function for custom autograd.Function to use it with forward mode AD.")

    @classmethod
    def _pull(cls, ctx: Any, *cotangents: Any) -> Any:
        return (cls.vjp if cls.vjp is not Function.vjp else cls.backward)(ctx, *cotangents)

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
        outs = list(body.outputs)
        for i, result in zip(body.tensor_outputs, results, strict=True):
            outs[i] = _settled(body, outs[i], result)
        body.settle()
        return outs[0] if body.single else tuple(outs)


class InplaceFunction(Function):
    """A `Function` of PyTorch's older kind, which is told whether it works in place.

    Args:
        inplace: kept as ``self.inplace``.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def _settled(body: _Body, returned: Any, result: Any) -> Any:
    """An input that ``forward`` changed in place takes the result's place on the tape; other results are Tensors of their own."""
    if any(returned is dirty for dirty in body.ctx._dirty):
        if result._requires:
            in_place_allowed(returned, body.name, state.grad)
        write(returned, result)
        return returned
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
