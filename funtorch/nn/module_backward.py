"""Backward hooks of Modules: two identities on the tape, around a module's inputs and around its outputs.

The gradients pass the outer one first, where the pre-hooks see `grad_output`, then the module, then the inner
one, where the hooks see `grad_input`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..autograd.function import Function
from ..autograd.modes import is_grad_enabled
from ..cautions import caution
from ..errors import OpError
from ..ops.creation import zeros_like
from ..tensor import Tensor

if TYPE_CHECKING:
    from .module import Module

NO_TENSOR = "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received {}"
NO_INPUT = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
    "require gradients. See Module.register_full_backward_hook."
)
OLDER = "Using a non-full backward hook when {} is deprecated and will be removed in future versions. This hook will be missing some {}."
MUST_BE_NONE = "Backward hook for Modules where no input requires gradient should always return None or None for all gradients."
WRONG_NUMBER = "Backward {}hook returned an invalid number of {}, got {}, but expected {}"

Gradients = tuple[Tensor | None, ...]


class Gate(Function):
    """The identity of some Tensors; their gradients pass by way of a function of all of them."""

    @staticmethod
    def forward(ctx: Any, passed: Callable[[Gradients], Gradients], zeros: bool, *tensors: Tensor) -> Gradients:
        ctx.passed = passed
        # Hooks see None for the gradient of an output that nothing depends on, but zeros for an unused input.
        ctx.set_materialize_grads(zeros)
        return tuple(t.view_as(t) for t in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> Gradients:
        return (None, None, *ctx.passed(gradients))


class BackwardGates:
    """The two identities of one call of a Module."""

    def __init__(self, module: Module, before: Sequence[Callable], after: Sequence[Callable]) -> None:
        self.module = module
        self.before = before
        self.after = after
        self.inputs: list[int] = []  # which arguments require grad; none: gradients end at the outputs
        self.outputs: list[int] = []
        self.constants: dict[int, Tensor] = {}  # arguments that are Tensors and don't require grad
        self.n_inputs = self.n_outputs = 0
        self.grad_output: Gradients | None = None
        self.older = bool(module._get_backward_hooks()[1])
        self.args: tuple = ()

    def enter(self, args: tuple) -> tuple:
        """The arguments, gone through the inner identity."""
        self.n_inputs, self.args = len(args), args
        where = _requiring_grad(args)
        if not self.after or not where:
            return args
        self.inputs = where
        self.constants = {i: a for i, a in enumerate(args) if isinstance(a, Tensor) and i not in where}
        return _through(args, where, self._inputs_reached, zeros=True)

    def leave(self, result: Any) -> Any:
        """The module's result, gone through the outer identity."""
        if self.older:
            _warn_of_older(self.args, result)
        if not isinstance(result, Tensor | tuple):
            caution(NO_TENSOR.format(type(result)))
            return result
        outputs = result if isinstance(result, tuple) else (result,)
        self.n_outputs = len(outputs)
        self.outputs = _requiring_grad(outputs)
        if not self.outputs:
            return result
        outputs = _through(outputs, self.outputs, self._outputs_reached, zeros=False)
        if not isinstance(result, tuple):
            return outputs[0]
        return type(result)(*outputs) if hasattr(result, "_fields") else outputs

    def _outputs_reached(self, gradients: Gradients) -> Gradients:
        grads = _spread(gradients, self.outputs, self.n_outputs)
        for hook in self.before:
            grads = _checked(hook(self.module, grads), grads, "pre ", "grad_output")
        self.grad_output = grads
        if not self.inputs and self.after:
            if not self.older:  # those were always called with what there is
                caution(NO_INPUT)
            for hook in self.after:
                answer = hook(self.module, (None,) * self.n_inputs, grads)
                if answer is not None and not (isinstance(answer, tuple) and all(g is None for g in answer)):
                    raise OpError(MUST_BE_NONE)
        return tuple(grads[i] for i in self.outputs)

    def _inputs_reached(self, gradients: Gradients) -> Gradients:
        if self.grad_output is None:
            # Reached by another way than through this call's outputs.
            return gradients
        grads = _spread(gradients, self.inputs, self.n_inputs)
        grads = tuple(zeros_like(self.constants[i]) if i in self.constants else g for i, g in enumerate(grads))
        for hook in self.after:
            grads = _checked(hook(self.module, grads, self.grad_output), grads, "", "grad_input")
        self.grad_output = None
        return tuple(grads[i] for i in self.inputs)


def _warn_of_older(args: tuple, result: Any) -> None:
    """Warn where PyTorch's older hooks see other gradients than those of the module's inputs and outputs."""
    outputs = result if isinstance(result, tuple) else (result,)
    nodes = {id(node) for t in outputs if isinstance(t, Tensor) and (node := t.grad_fn) is not None}
    several = len(nodes) > 1
    if not all(isinstance(t, Tensor) for t in outputs):
        problem = "the module does not return a single Tensor or a tuple of Tensors", "of the grad_output"
    elif not all(isinstance(t, Tensor) for t in args):
        problem = "the module does not take as input a single Tensor or a tuple of Tensors", "of the grad_input"
    elif several:
        problem = "outputs are generated by different autograd Nodes", "grad_output"
    elif nodes and any(t.requires_grad and t.is_leaf for t in args) or not any(t.requires_grad for t in args):
        problem = "the forward contains multiple autograd Nodes", "grad_input"
    else:
        return
    caution(OLDER.format(*problem), FutureWarning)


def _requiring_grad(values: Sequence[Any]) -> list[int]:
    """The places of the Tensors that require grad, if gradients are recorded now."""
    if not is_grad_enabled():
        return []
    return [i for i, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad]


def _through(values: tuple, where: list[int], passed: Callable[[Gradients], Gradients], zeros: bool) -> tuple:
    through = Gate.apply(passed, zeros, *(values[i] for i in where))
    replaced = list(values)
    for i, tensor in zip(where, through, strict=True):
        replaced[i] = tensor
    return tuple(replaced)


def _spread(gradients: Gradients, where: list[int], length: int) -> Gradients:
    """The gradients at their places among `length` values, with None at the others."""
    spread: list[Tensor | None] = [None] * length
    for i, gradient in zip(where, gradients, strict=True):
        spread[i] = gradient
    return tuple(spread)


def _checked(answer: Any, grads: Gradients, kind: str, what: str) -> Gradients:
    """What a hook makes of the gradients: those it returned, or the same ones if it returned None."""
    if answer is None:
        return grads
    answer = answer if isinstance(answer, tuple) else (answer,)
    if len(answer) != len(grads):
        raise OpError(WRONG_NUMBER.format(kind, what, len(answer), len(grads)))
    return answer
