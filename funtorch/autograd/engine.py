"""``autograd.backward`` and ``autograd.grad``: gradients from the tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..cautions import caution
from ..core.backward import ADD, differentiate
from ..core.batching import lane_sum
from ..core.call import call
from ..core.engine import CONCRETE
from ..core.foreign import followed, is_foreign
from ..core.gradients import hooked
from ..core.handle import Handle, make, note_written, value_of, without_history
from ..core.levels import WRAPPED, Batched
from ..core.meta import constant_like, is_meta
from ..core.op import is_differentiable
from ..core.state import noted, state, watched
from ..core.tape import Leaf, place_of
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from .graph import GradientEdge, tensor_at


def _as_tuple(value: Any) -> tuple:
    """One Tensor as a tuple of it; anything else is gone through once: a list, a dict's values, a module's ``parameters()``."""
    return (value,) if isinstance(value, (Handle, GradientEdge)) else tuple(value)


def _as_inputs(inputs: Any, asked: str) -> tuple:
    """The Tensors for which gradients are asked; a dict's are its values."""
    if isinstance(inputs, Mapping) and type(inputs) is not dict:
        raise ArgumentTypeError(
            f"`inputs` argument to `{asked}()` must be a dict, not {type(inputs).__name__}: pass its values() instead"
        )
    found = _as_tuple(inputs.values() if type(inputs) is dict else inputs)
    if not found:
        raise OpError(f"`inputs` argument to `{asked}()` cannot be empty.")
    for each in found:
        if not isinstance(each, (Handle, GradientEdge)):
            raise OpError(f"all inputs have to be Tensors or GradientEdges, but got {type(each).__name__}")
    return tuple(map(tensor_at, found))


def _cotangents(roots: Sequence[Any], given: Sequence[Any], create_graph: bool) -> list[Any]:
    """The cotangent of each root: the one given, or one for a root with a single element."""
    made = []
    for root, cotangent in zip(roots, given, strict=True):
        payload = root._payload
        if cotangent is None:
            if payload.shape not in ((), (1,)) and root.numel() != 1:
                raise OpError("grad can be implicitly created only for scalar outputs")
            if payload.dtype.kind == "c":
                raise OpError(f"grad can be implicitly created only for real scalar outputs but got {root.dtype}")
            if not is_differentiable(payload.dtype):
                raise OpError(f"grad can be computed only for floating point and complex outputs, not {root.dtype}")
            made.append(constant_like(root, 1))
            continue
        if not isinstance(cotangent, Handle):
            raise ArgumentTypeError(f"gradients can be either Tensors or None, but got {type(cotangent).__name__}")
        if value_of(cotangent).shape != payload.shape:  # its values as they are now, which the walk reads
            raise OpError(
                f"Mismatch in shape: grad_output[{len(made)}] has a shape of {cotangent.shape} and "
                f"output[{len(made)}] has a shape of {root.shape}."
            )
        if is_meta(cotangent) != is_meta(root):
            raise OpError(f"invalid gradient at index {len(made)} - expected device {root.device} but got {cotangent.device}")
        made.append(cotangent if create_graph else without_history(cotangent))
    return made


def _checked_roots(tensors: Sequence[Any]) -> None:
    for number, root in enumerate(tensors):
        if not isinstance(root, Handle):
            raise ArgumentTypeError(f"element {number} of tensors must be a Tensor, not {type(root).__name__}")
        if not root.requires_grad:
            raise OpError(f"element {number} of tensors does not require grad and does not have a grad_fn")


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Accumulate the gradients of ``tensors`` in the ``.grad`` of the leaves (or of ``inputs``).

    Args:
        tensors: one Tensor or several that require grad.
        grad_tensors: their cotangents, of the same shapes; None stands for one where there is a single element.
        retain_graph: keep the graph for another walk (default: ``create_graph``).
        create_graph: record the walk itself, for derivatives of higher order.
        inputs: the only Tensors whose ``.grad`` is to change: one, several, or a dict of them.

    Raises:
        RuntimeError: a tensor is on no graph, has several elements and no cotangent, or its graph was freed.
        TypeError: ``inputs`` is a mapping that is no dict.

    >>> import funtorch as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.backward(x * x)
    >>> x.grad
    tensor(6.)
    """
    roots = tuple(map(tensor_at, _as_tuple(tensors)))
    if grad_variables is not None:
        caution("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise OpError(
                "`grad_tensors` and `grad_variables` (deprecated) can't both be passed to backward(): use `grad_tensors`"
            )
        grad_tensors = grad_variables
    given = (None,) * len(roots) if grad_tensors is None else _as_tuple(grad_tensors)
    _checked_roots(roots)
    roots, given = _on_tape(roots, given)
    wanted = None if inputs is None else [followed(t) for t in _as_inputs(inputs, "backward")]
    cotangents = _cotangents(roots, given, create_graph)
    targets = None if wanted is None else list(map(place_of, wanted))
    olds = None if create_graph else _held_gradients
    with recording(create_graph), noted("backward"):
        places, grads = differentiate(
            roots, cotangents, targets, create_graph=create_graph,
            retain_graph=create_graph if retain_graph is None else retain_graph, olds=olds,
        )  # fmt: skip
    receivers = list(map(_leaf_at, places)) if wanted is None else wanted
    for tensor, grad in zip(receivers, grads, strict=True):
        if grad is None or tensor is None:
            continue
        if not watched and _is_plain_first(tensor, grad):
            tensor._grad = make(grad._payload)
        else:
            _accumulate(tensor, _for_leaf(tensor, grad), added=olds is not None and _adds(tensor), create_graph=create_graph)


def _is_plain_first(tensor: Any, grad: Any) -> bool:
    """Whether a gradient is an array that nothing was there before, and nobody waits for: what `_accumulate` does then is to set it."""
    return (
        tensor._grad is None
        and tensor._hooks is None
        and type(grad._payload) in CONCRETE
        and not grad._requires
        and "_after_hooks" not in tensor.__dict__
    )


def _leaf_at(place: tuple[Any, int]) -> Any:
    """The leaf that stands there, unless it has stopped requiring a gradient since it was used."""
    tensor = place[0].tensor if type(place[0]) is Leaf else None
    return tensor if tensor is not None and tensor._requires else None


def _adds(tensor: Any) -> bool:
    """Whether a gradient can be added to the one that is there within the composite."""
    return tensor._grad is not None and not tensor._hooks and not tensor._grad._requires


def _held_gradients(targets: Sequence[tuple[Any, int]]) -> list[Any]:
    """What each target's gradient is to be added to."""
    leaves = [_leaf_at(t) for t in targets]
    if state.recorder is not None:  # they are read as gradients, not as Tensors of their own
        for leaf in leaves:
            if leaf is not None:
                state.recorder.read_grad(leaf)
    return [leaf._grad if leaf is not None and leaf._grad is not None and _adds(leaf) else None for leaf in leaves]


def _for_leaf(tensor: Any, grad: Any) -> Any:
    """A gradient as a leaf can hold it: for one from outside of a vmap, what a loop over the lanes would have added up."""
    payload = grad._payload
    while type(payload) in WRAPPED and payload.level.depth > max(tensor._level, tensor._birth):
        grad = lane_sum(payload) if type(payload) is Batched else payload.primal
        payload = grad._payload
    return grad


def _accumulate(tensor: Any, grad: Any, added: bool, create_graph: bool) -> None:
    if state.recorder is not None:
        state.recorder.write_grad(tensor)
    for hook in list((tensor._hooks or {}).values()) if tensor._node is None else ():
        grad = hooked(hook, grad)
    held = tensor._grad
    if held is None:
        # A Tensor of its own, since it will be changed in place: hooks and other leaves may hold this one.
        tensor._grad = grad if grad._requires else without_history(grad)
    elif created := (create_graph or held._requires):
        tensor._grad = call(ADD, (held, grad), recording=created)
    else:  # others may hold this gradient: it is changed in place, as PyTorch does
        total = grad if added else call(ADD, (held, grad), recording=False)
        if is_foreign(held) or is_foreign(total):
            tensor._grad = total.detach()
        else:
            held._payload = total._payload
            held._writes += 1
            note_written(held)
    for hook in list(tensor.__dict__.get("_after_hooks", {}).values()):
        hook(tensor)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of ``outputs`` with respect to ``inputs``, summed over outputs; nothing is accumulated.

    Args:
        outputs: Tensors that require grad.
        inputs: Tensors on their graph: one, several (anything that can be gone through), or a dict of them.
        grad_outputs: cotangents of the outputs; None stands for one where there is a single element.
        retain_graph, create_graph: as in `backward`.
        allow_unused: give None for an input that isn't on the graph, instead of raising.
        is_grads_batched: each cotangent has a leading batch dimension, over which the walk is vectorised.
        materialize_grads: give zeros in place of None.

    Returns:
        A tuple of one Tensor for each input, of its shape and dtype; for a dict, a dict with its keys.

    Raises:
        RuntimeError: an input does not require grad, isn't on the graph, or the graph was freed.
        TypeError: ``inputs`` is a mapping that is no dict.

    >>> import funtorch as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.grad(x**2, x)
    (tensor(6.),)
    """
    roots, wanted = tuple(map(tensor_at, _as_tuple(outputs))), _as_inputs(inputs, "grad")
    given = _as_tuple(grad_outputs) if grad_outputs is not None else (None,) * len(roots)
    if materialize_grads and allow_unused is False:
        raise ArgumentValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    _checked_roots(roots)
    roots, given = _on_tape(roots, given)
    if not only_inputs:
        caution("only_inputs argument is deprecated and is ignored now (defaults to True).", FutureWarning)
    for tensor in wanted:
        if not tensor.requires_grad:
            raise OpError("One of the differentiated Tensors does not require grad")
    keep = create_graph if retain_graph is None else retain_graph
    asked, wanted = wanted, tuple(map(followed, wanted))
    if is_grads_batched:
        found = _batched_grad(
            roots, wanted, given, keep, create_graph, bool(allow_unused or materialize_grads), materialize_grads
        )
    else:
        with recording(create_graph):
            grads = gradients(roots, wanted, _cotangents(roots, given, create_graph), keep, create_graph)
        found = _as_asked(asked, _finished(wanted, grads, bool(allow_unused), materialize_grads))
    return dict(zip(inputs, found, strict=True)) if type(inputs) is dict else found


def _on_tape(roots: Sequence[Any], given: Sequence[Any]) -> tuple[tuple, tuple]:
    """The Tensors that are on the tape for sparse roots, and what their cotangents are for these."""
    if not any(map(is_foreign, roots)):
        return tuple(roots), tuple(given)
    found = [r.aligned(g) if is_foreign(r) and g is not None else g for r, g in zip(roots, given, strict=True)]
    return tuple(map(followed, roots)), tuple(found)


def _as_asked(asked: Sequence[Any], grads: tuple) -> tuple:
    """Gradients in the layout of the Tensors for which they were asked."""
    if not any(map(is_foreign, asked)):
        return grads
    return tuple(t.like(g) if is_foreign(t) and g is not None else g for t, g in zip(asked, grads, strict=True))


class recording:
    """A walk that is recorded, at this level and those further out, or not."""

    __slots__ = ("on", "before")

    def __init__(self, on: bool) -> None:
        self.on = on

    def __enter__(self) -> None:
        self.before, state.grad = state.grad, self.on

    def __exit__(self, *exc: object) -> None:
        state.grad = self.before


def gradients(
    roots: Sequence[Any], wanted: Sequence[Any], cotangents: Sequence[Any], keep: bool, create_graph: bool
) -> list[Any]:
    """`grad` without its checks: a list with None for what isn't reached."""
    targets = [place_of(t) for t in wanted]
    _, grads = differentiate(roots, cotangents, targets, create_graph=create_graph, retain_graph=keep)
    for number, tensor in enumerate(wanted):
        for hook in list((tensor._hooks or {}).values()) if tensor._node is None and grads[number] is not None else ():
            grads[number] = hooked(hook, grads[number])
    return grads


def _finished(wanted: Sequence[Any], grads: list[Any], allow_unused: bool, materialize: bool) -> tuple:
    if materialize:
        return tuple(constant_like(t, 0) if g is None else g for t, g in zip(wanted, grads, strict=True))
    if not allow_unused and any(g is None for g in grads):
        raise OpError(
            f"The differentiated Tensor at index {[g is None for g in grads].index(True)} appears to not have been used in the "
            "graph. Set allow_unused=True if this is the desired behavior."
        )
    return tuple(grads)


def _batched_grad(
    roots: Any, wanted: Any, given: Any, keep: bool, create_graph: bool, allow_unused: bool, materialize: bool
) -> tuple:
    from ..transforms.batching import vmap

    missing: list[int] = []

    def one(*cotangents: Any) -> tuple:
        grads = gradients(roots, wanted, _cotangents(roots, cotangents, create_graph), True, create_graph)
        missing[:] = [number for number, g in enumerate(grads) if g is None]
        return _finished(wanted, grads, allow_unused, materialize=bool(missing) and allow_unused)

    with recording(create_graph):
        result = vmap(one)(*given)
    if not keep:
        for node in _nodes(roots):
            node.release()
    return result if materialize else tuple(None if number in missing else g for number, g in enumerate(result))


def _nodes(roots: Sequence[Any]) -> list[Any]:
    from ..core.backward import Graph

    return Graph([place_of(root) for root in roots]).nodes
