"""grad, vjp, jvp, linearize: derivatives of functions of Tensors in nested containers."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..autograd.engine import gradients
from ..core.backward import Graph
from ..core.forward_mode import JvpLevel
from ..core.handle import Handle, value_of, without_history
from ..core.levels import Dual, untaped
from ..core.meta import constant_like
from ..core.state import state
from ..core.tape import Leaf, place_of
from ..core.trees import Spec, flatten, unflatten
from ..core.variables import variable
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..tensor import Tensor


@contextlib.contextmanager
def recording() -> Iterator[bool]:
    """Record on the tape, whatever the mode outside; gives whether it was on outside."""
    outside = state.grad
    state.grad = True
    try:
        yield outside
    finally:
        state.grad = outside


def _selected(argnums: Any, args: tuple, name: str) -> tuple[tuple[int, ...], bool]:
    several = not isinstance(argnums, int)
    numbers = tuple(argnums) if several else (argnums,)
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise OpError(f"{name}(): Got argnum={number}, but only {len(args)} positional inputs")
    return tuple(n % len(args) for n in numbers), several


class Variables:
    """Arguments with some of their Tensors replaced by variables to differentiate by."""

    def __init__(self, args: tuple, numbers: Sequence[int], name: str, outside: bool) -> None:
        self.args = list(args)
        self.specs: list[Spec] = []
        self.variables: list[Tensor] = []
        self.needs_graph = False
        for number in numbers:
            leaves, spec = flatten(args[number])
            fresh = [self._fresh(leaf, name, outside) for leaf in leaves]
            self.variables += fresh
            self.specs.append(spec)
            self.args[number] = unflatten(spec, fresh)

    def _fresh(self, leaf: Any, name: str, outside: bool) -> Tensor:
        if not isinstance(leaf, Tensor):
            raise ArgumentTypeError(
                f"{name}(): expected the differentiated arguments to hold Tensors only, got {type(leaf).__name__}"
            )
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise OpError(f"{name}(): only Tensors of floating point and complex dtype can require gradients, got {leaf.dtype}")
        self.needs_graph |= outside and leaf.requires_grad
        return variable(leaf, outside)

    def pack(self, leaves: Sequence[Any], several: bool) -> Any:
        """Leaves in the structure of the differentiated arguments."""
        given = iter(leaves)
        packed = tuple(unflatten(spec, [next(given) for _ in range(spec.count)]) for spec in self.specs)
        return packed if several else packed[0]


def zeros_for(tensor: Handle) -> Tensor:
    """Zeros like a Tensor, the same in each lane."""
    return constant_like(tensor, 0)


def reaches_beyond(roots: Sequence[Tensor], variables: Sequence[Tensor]) -> bool:
    """Whether the graph of ``roots`` has leaves other than ``variables``: then gradients are functions of these too.

    Leaves of levels further out don't count: what is computed from them is on their own tapes anyway.
    """
    ours, depth = {place_of(v)[0] for v in variables}, max((v._level for v in variables), default=0)
    leaves = Graph([place_of(r) for r in roots]).leaves
    return any(type(leaf) is Leaf and leaf not in ours and leaf.level >= depth for leaf in leaves)


def finish(tensor: Any, outside: bool) -> Any:
    """A result as the code outside sees it: without history where nothing is recorded there."""
    return tensor if outside or not isinstance(tensor, Tensor) else untaped(tensor)


def cut(tree: Any, variables: Sequence[Tensor], outside: bool) -> Any:
    """Results of a differentiated function, without their connection to ``variables`` unless these go on outside."""
    leaves, spec = flatten(tree)
    return unflatten(spec, [_cut_one(leaf, variables, outside) for leaf in leaves])


def _cut_one(leaf: Any, variables: Sequence[Tensor], outside: bool) -> Any:
    if not isinstance(leaf, Tensor):
        return leaf
    if not outside:
        return untaped(leaf)
    if not leaf.requires_grad:
        return leaf
    ours = {place_of(v)[0] for v in variables if v._node is None}
    if any(found not in ours for found in Graph([place_of(leaf)]).leaves):
        return leaf
    return without_history(leaf)  # tapes further out go on


def grad_and_value(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """Like `grad`; the result is ``(gradients, value)``, or ``(gradients, (value, aux))`` with ``has_aux``."""

    @functools.wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> tuple:
        if _is_module(func, args):
            return _module_grad(func, args, kwargs, argnums, has_aux)
        with recording() as outside:
            numbers, several = _selected(argnums, args, "grad")
            given = Variables(args, numbers, "grad", outside)
            result = func(*given.args, **kwargs)
            output, aux = _with_aux(result, has_aux, "grad")
            _check_scalar(output)
            grads = _pull(given, [output], [None], outside, retain=False)
            value = cut(output, given.variables, outside)
            packed = given.pack([finish(g, outside) for g in grads], several)
            return packed, ((value, cut(aux, given.variables, outside)) if has_aux else value)

    return differentiated


def grad(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """The gradient of a function with a single number as its result.

    Args:
        func: a function of Tensors (in nested containers) to a Tensor of one element; with ``has_aux`` to such a Tensor
            and anything else.
        argnums: the number of the argument to differentiate by, or several.

    Returns:
        A function of the same arguments to gradients in the structure of the argument(s) named by ``argnums``; with
        ``has_aux`` to (gradients, aux).

    Raises:
        RuntimeError: the result has several elements, or is no Tensor.

    >>> import funtorch as torch
    >>> torch.func.grad(lambda x: x**3)(torch.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return differentiated


def _is_module(func: Any, args: tuple) -> bool:
    from ..nn.module import Module

    return bool(args) and isinstance(args[0], Module) and not isinstance(func, Module)


def _module_grad(func: Callable, args: tuple, kwargs: dict, argnums: Any, has_aux: bool) -> Any:
    """Differentiate by the parameters of a Module that is the first argument: gradients in a dict by name."""
    from .modules import swapped

    module, rest = args[0], args[1:]
    parameters = {name: p for name, p in module.named_parameters() if p.requires_grad}

    def of_parameters(parameters: dict, *rest: Any, **kwargs: Any) -> Any:
        with swapped(module, parameters):
            return func(module, *rest, **kwargs)

    return grad_and_value(of_parameters, argnums, has_aux)(parameters, *rest, **kwargs)


def _with_aux(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise OpError(f"{name}(): output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


def _check_scalar(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise OpError(f"grad(): Expected f(*args) to return a Tensor, got {type(output)}")
    if output.dim() != 0:
        raise OpError(
            f"grad(): Expected f(*args) to return a scalar tensor, got tensor with {output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )


def _pull(given: Variables, outputs: Sequence[Tensor], cotangents: Sequence[Any], outside: bool, retain: bool) -> list[Tensor]:
    """The gradients of the variables, zeros where they were not used."""
    pairs = [(o, constant_like(o, 1) if c is None else c) for o, c in zip(outputs, cotangents, strict=True) if o.requires_grad]
    if not pairs:
        return [zeros_for(v) for v in given.variables]
    roots = [o for o, _ in pairs]
    create_graph = outside and (
        given.needs_graph or any(c.requires_grad for _, c in pairs) or reaches_beyond(roots, given.variables)
    )
    grads = gradients(roots, given.variables, [c for _, c in pairs], retain or create_graph, create_graph)
    return [zeros_for(v) if g is None else g for v, g in zip(given.variables, grads, strict=True)]


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """The value of ``func`` at ``primals``, and the function that pulls cotangents of it back to them.

    Returns:
        ``(output, vjp_fn)``, or ``(output, vjp_fn, aux)`` with ``has_aux``. ``vjp_fn(cotangents)`` takes Tensors in the
        structure of the output and returns a tuple with one entry for each primal (the entry itself for one primal).
        It may be called any number of times.

    >>> import funtorch as torch
    >>> y, pull = torch.func.vjp(torch.sin, torch.tensor(0.0))
    >>> pull(torch.tensor(2.0))
    (tensor(2.),)
    """
    with recording() as outside:
        given = Variables(primals, range(len(primals)), "vjp", outside)
        output, aux = _with_aux(func(*given.args), has_aux, "vjp")
        roots, spec = flatten(output)
        for root in roots:
            if not isinstance(root, Tensor):
                raise OpError(f"vjp(): Expected f(*primals) to return only Tensors, got {type(root)}")
        value = cut(output, given.variables, outside)

    def pull(*cotangents: Any) -> Any:
        chosen = cotangents[0] if len(cotangents) == 1 else cotangents
        leaves, given_spec = flatten(chosen)
        if given_spec != spec:
            raise OpError(
                f"vjp_fn(): Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. cotangents: {given_spec}, primal output: {spec}"
            )
        for root, leaf in zip(roots, leaves, strict=True):
            if leaf.shape != root.shape:
                raise OpError(f"vjp_fn(): cotangent of shape {list(leaf.shape)} for an output of shape {list(root.shape)}")
        records = state.grad
        with recording():
            grads = _pull(given, roots, leaves, records, retain=True)
            return given.pack([finish(g, records) for g in grads], several=True)

    return (value, pull, cut(aux, given.variables, outside)) if has_aux else (value, pull)


def jvp(func: Callable, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> tuple:
    """The value of ``func`` at ``primals``, and its derivative in the direction of ``tangents``.

    Args:
        primals, tangents: tuples of Tensors (in nested containers) of the same structure, shapes and dtypes.

    Returns:
        ``(output, output_tangent)``, or ``(output, output_tangent, aux)`` with ``has_aux``.

    >>> import funtorch as torch
    >>> torch.func.jvp(torch.sin, (torch.tensor(0.0),), (torch.tensor(2.0),))
    (tensor(0.), tensor(2.))
    """
    _check_tuple(primals, "primals")
    _check_tuple(tangents, "tangents")
    leaves, spec = flatten(tuple(primals))
    dots, dot_spec = flatten(tuple(tangents))
    if spec != dot_spec:
        raise OpError(f"jvp(): Expected primals and tangents to have the same python structure, got {spec} and {dot_spec}")
    for leaf, dot in zip(leaves, dots, strict=True):
        if not isinstance(leaf, Tensor) or not isinstance(dot, Tensor):
            raise ArgumentTypeError("jvp(): primals and tangents must hold Tensors only")
        if leaf.shape != dot.shape or leaf.dtype != dot.dtype:
            raise OpError(
                f"jvp(): primal {list(leaf.shape)} {leaf.dtype} and tangent {list(dot.shape)} {dot.dtype} differ in shape or dtype"
            )
    level = JvpLevel()
    with level:
        duals = unflatten(spec, [level.wrap(leaf, dot) for leaf, dot in zip(leaves, dots, strict=True)])
        output, aux = _with_aux(func(*duals), has_aux, "jvp")
        level.settle()
        outs, out_spec = flatten(output)
        for out in outs:
            if not isinstance(out, Tensor):
                raise OpError(f"jvp(): Expected f(*args) to return only tensors, got {type(out)}")
        pairs = [split(level, out) for out in outs]
        if strict and any(dot is None for _, dot in pairs):
            raise OpError("jvp(f, primals, tangents, strict=True): the output of f is independent of the inputs")
        found = [zeros_for(p) if dot is None else dot for p, dot in pairs]
        result = (unflatten(out_spec, [p for p, _ in pairs]), unflatten(out_spec, found))
        if not has_aux:
            return result
        rest, aux_spec = flatten(aux)
        return (*result, unflatten(aux_spec, [split(level, a)[0] if isinstance(a, Tensor) else a for a in rest]))


def _check_tuple(value: Any, name: str) -> None:
    if not isinstance(value, (tuple, list)):
        raise OpError(
            f"jvp(): Expected {name} to be a tuple, got {type(value).__name__}. E.g. it should be valid to call f(*primals)."
        )
    if not value:
        raise ArgumentValueError(f"jvp(): Expected {name} to be non-empty")


def split(level: JvpLevel, tensor: Handle) -> tuple[Handle, Handle | None]:
    """The primal and the tangent (None: zero) of a Tensor, one level down."""
    payload = value_of(tensor)
    if type(payload) is Dual and payload.level is level:
        return payload.primal, payload.tangent
    return tensor, None


def linearize(func: Callable, *primals: Any) -> tuple:
    """The value of ``func`` at ``primals``, and its derivative there as a function of tangents alone.

    ``func`` runs once; each call of the second result costs one walk of the tape. (The derivative is the transpose of the
    map that pulls cotangents back, which is linear in them.)

    >>> import funtorch as torch
    >>> y, push = torch.func.linearize(torch.sin, torch.tensor(0.0))
    >>> push(torch.tensor(2.0))
    tensor(2.)
    """
    with recording() as outside:
        given = Variables(primals, range(len(primals)), "linearize", outside)
        output = func(*given.args)
        roots, spec = flatten(output)
        cotangents = [variable(zeros_for(root), False) for root in roots]
        live = [(r, c) for r, c in zip(roots, cotangents, strict=True) if r.requires_grad]
        pulled = gradients([r for r, _ in live], given.variables, [c for _, c in live], True, True) if live else ()
        value = cut(output, given.variables, outside)

    def push(*tangents: Any) -> Any:
        dots, _ = flatten(tangents)
        if len(dots) != len(given.variables):
            raise ArgumentValueError(f"linearize(): expected {len(given.variables)} tangents, got {len(dots)}")
        pairs = [(g, d) for g, d in zip(pulled, dots, strict=bool(live)) if g is not None and g.requires_grad]
        records = state.grad
        with recording():
            roots_ = [g for g, _ in pairs]
            create = records and (any(d.requires_grad for _, d in pairs) or given.needs_graph)
            found = gradients(roots_, cotangents, [d for _, d in pairs], True, create) if pairs else [None] * len(cotangents)
            return unflatten(
                spec, [zeros_for(c) if f is None else finish(f, records) for c, f in zip(cotangents, found, strict=True)]
            )

    return value, push
