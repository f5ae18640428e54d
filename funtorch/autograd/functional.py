"""``autograd.functional``: derivatives of functions at given inputs, on the tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.handle import Handle
from ..core.meta import constant_like
from ..core.variables import unit_vectors, variable
from ..errors import ArgumentTypeError, OpError
from .engine import grad
from .modes import enable_grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

INDEPENDENT = "Output {} of the user-provided function is independent of input {}. This is not allowed in strict mode."
NO_GRADIENT = (
    "Output {} of the user-provided function does not require gradients. The outputs must be computed in a differentiable "
    "manner from the input when running in strict mode."
)


def _tuple_of(value: Any, what: str, fn: str) -> tuple[tuple, bool]:
    several = isinstance(value, (tuple, list))
    values = tuple(value) if several else (value,)
    for number, each in enumerate(values):
        if not isinstance(each, Handle):
            at = f" but the element at index {number} is of type {type(each)}" if several else f" but got {type(each)}"
            raise ArgumentTypeError(f"The {what} given to {fn} must be either a Tensor or a tuple of Tensors{at}")
    return values, several


def _prepared(inputs: tuple, create_graph: bool) -> tuple:
    """Inputs to differentiate by: connected to the given ones if the result is to be."""
    return tuple(variable(t, create_graph) for t in inputs)


class _Run:
    """A function at prepared inputs, with its outputs."""

    def __init__(self, func: Callable, inputs: Any, name: str, create_graph: bool, strict: bool) -> None:
        given, self.several_in = _tuple_of(inputs, "inputs", name)
        self.create_graph, self.strict = create_graph, strict
        self.inputs = _prepared(given, create_graph)
        self.outputs, self.several_out = _tuple_of(func(*self.inputs), "outputs of the user-provided function", name)
        if strict:
            for number, output in enumerate(self.outputs):
                if not output.requires_grad:
                    raise OpError(NO_GRADIENT.format(number))

    def pull(self, roots: Sequence[Any], cotangents: Sequence[Any], batched: bool = False, output: int = 0) -> list[Any]:
        """Gradients of the inputs, zeros where there are none."""
        live = [(r, c) for r, c in zip(roots, cotangents, strict=True) if r.requires_grad]
        grads: Sequence[Any] = [None] * len(self.inputs)
        if live:
            grads = grad(
                [r for r, _ in live], self.inputs, [c for _, c in live], retain_graph=True, create_graph=self.create_graph,
                allow_unused=True, is_grads_batched=batched,
            )  # fmt: skip
        lead = tuple(cotangents[0].shape[:1]) if batched else ()
        filled = []
        for number, (g, x) in enumerate(zip(grads, self.inputs, strict=True)):
            if g is None and self.strict:
                raise OpError(INDEPENDENT.format(output, number))
            filled.append(constant_like(x, 0, lead) if g is None else g)
        return filled

    def finish(self, value: Any) -> Any:
        """A result, cut off from the graph unless it was asked for."""
        return value if self.create_graph else value.detach()

    def out(self) -> Any:
        """The outputs as the function gave them."""
        found = tuple(self.finish(o) for o in self.outputs)
        return found if self.several_out else found[0]


def _direction(v: Any, like: tuple, several: bool, name: str, what: str) -> tuple:
    """``v`` checked against the Tensors that it belongs to; one for a single number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise OpError(
                f"The vector v can only be None if the {what} of the user-provided function is a single Tensor with a single element ({name})"
            )
        return (constant_like(like[0], 1),)
    given, _ = _tuple_of(v, "v", name)
    if len(given) != len(like):
        raise OpError(f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}.")
    for number, (a, b) in enumerate(zip(given, like, strict=True)):
        if a.shape != b.shape:
            entry = f"Entry {number} " if several else ""
            raise OpError(f"v has invalid size: {entry}should be {b.shape} but got {a.shape}.")
    return given


def _packed(values: Sequence[Any], several: bool) -> Any:
    return tuple(values) if several else values[0]


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """``(func(*inputs), v @ J)`` with the Jacobian J of ``func``: the second in the structure of ``inputs``.

    Args:
        v: Tensors like the outputs; None for a single output of one element.
        create_graph: make the result differentiable.
        strict: raise RuntimeError where an output does not depend on an input, rather than give zeros.

    >>> import funtorch as torch
    >>> torch.autograd.functional.vjp(torch.sin, torch.zeros(2), torch.ones(2))
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    with enable_grad():
        run = _Run(func, inputs, "vjp", create_graph, strict)
        cotangents = _direction(v, run.outputs, run.several_out, "vjp", "output")
        grads = run.pull(run.outputs, cotangents)
    return run.out(), _packed([run.finish(g) for g in grads], run.several_in)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """``(func(*inputs), J @ v)`` with the Jacobian J of ``func``: the second in the structure of the outputs.

    Arguments are as in `vjp`, with ``v`` like the inputs.
    """
    from ..transforms.gradients import jvp as push

    given, several = _tuple_of(inputs, "inputs", "jvp")
    direction = _direction(v, given, several, "jvp", "input")
    if strict:
        with enable_grad():
            _strictly(_Run(func, inputs, "jvp", False, True))
    primals = given if create_graph else tuple(t.detach() for t in given)
    output, dots = push(func, primals, direction)
    outs, several_out = _tuple_of(output, "outputs of the user-provided function", "jvp")
    tangents, _ = _tuple_of(dots, "outputs", "jvp")
    if not create_graph:
        outs, tangents = tuple(o.detach() for o in outs), tuple(t.detach() for t in tangents)
    return _packed(outs, several_out), _packed(tangents, several_out)


def _strictly(run: _Run) -> None:
    for number, output in enumerate(run.outputs):
        run.pull([output], [constant_like(output, 0)], output=number)


def jacobian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of ``func``: a Tensor of shape (*output, *input), or tuples of these by output and input.

    Args:
        vectorize: accepted as in PyTorch; rows are always computed together.
        strategy: "reverse-mode" or "forward-mode".

    Raises:
        ValueError: another strategy, or forward mode with ``create_graph`` and ``strict``.

    >>> import funtorch as torch
    >>> torch.autograd.functional.jacobian(torch.sin, torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        return _forward_jacobian(func, inputs, create_graph, strict)
    with enable_grad():
        run = _Run(func, inputs, "jacobian", create_graph, strict)
        rows = []
        for number, output in enumerate(run.outputs):
            grads = run.pull([output], unit_vectors([output]), batched=True, output=number)
            rows.append(
                _packed(
                    [run.finish(g.reshape(*output.shape, *x.shape)) for g, x in zip(grads, run.inputs, strict=True)],
                    run.several_in,
                )
            )
    return _packed(rows, run.several_out)


def _forward_jacobian(func: Callable, inputs: Any, create_graph: bool, strict: bool) -> Any:
    from ..core.trees import tree_map
    from ..transforms.jacobians import jacfwd

    given, several = _tuple_of(inputs, "inputs", "jacobian")
    if create_graph:
        raise NotImplementedError(
            'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
        )
    if strict:
        raise OpError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    found = jacfwd(func, argnums=tuple(range(len(given))))(*(t.detach() for t in given))
    found = tree_map(lambda t: t.detach(), found)
    nested = isinstance(found[0], tuple)
    if several:
        return found
    return tuple(row[0] for row in found) if nested else found[0]


def _scalar(func: Callable, name: str) -> Callable:
    def checked(*inputs: Any) -> Any:
        output = func(*inputs)
        if not isinstance(output, Handle):
            raise OpError(f"The function given to {name} should return a single Tensor")
        if output.numel() != 1:
            raise OpError(f"The Tensor returned by the function given to {name} should contain a single element")
        return output.squeeze()

    return checked


def hessian(
    func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The second derivatives of a function with a single number as its result: shape (*input, *input), or tuples of these.

    >>> import funtorch as torch
    >>> torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.ones(1))
    tensor([[6.]])
    """
    _, several = _tuple_of(inputs, "inputs", "hessian")
    single = _scalar(func, "hessian")

    def gradient(*args: Any) -> Any:
        return jacobian(single, args, create_graph=True, strict=strict)

    found = jacobian(gradient, inputs if several else (inputs,), create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if several else found[0][0]


def vhp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """``(func(*inputs), v @ H)`` with the matrix H of second derivatives of a function with one number as its result."""
    with enable_grad():
        run, slopes = _slopes(func, inputs, "vhp", create_graph, strict)
        direction = _direction(v, run.inputs, run.several_in, "vhp", "input")
        if strict and not all(s.requires_grad for s in slopes):
            raise OpError(NO_GRADIENT.format(0))
        found = run.pull(slopes, direction)
    return run.out(), _packed([run.finish(g) for g in found], run.several_in)


def _slopes(func: Callable, inputs: Any, name: str, create_graph: bool, strict: bool) -> tuple[_Run, list[Any]]:
    """The run, and its gradients on the tape."""
    run = _Run(_scalar(func, name), inputs, name, create_graph, strict)
    output = run.outputs[0]
    if not output.requires_grad:
        return run, [constant_like(x, 0) for x in run.inputs]
    grads = grad(output, run.inputs, create_graph=True, allow_unused=True)
    if strict and None in grads:
        raise OpError(INDEPENDENT.format(0, grads.index(None)))
    return run, [constant_like(x, 0) if g is None else g for g, x in zip(grads, run.inputs, strict=True)]


def hvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """``(func(*inputs), H @ v)``: as `vhp`, for H is symmetric."""
    return vhp(func, inputs, v, create_graph, strict)
