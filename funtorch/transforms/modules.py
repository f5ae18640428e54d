"""Modules as functions of their parameters and buffers."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..tensor import Tensor

if TYPE_CHECKING:
    from ..nn.module import Module

_MISSING = object()


def _owner(module: Module, name: str) -> tuple[Module, str]:
    path, _, last = name.rpartition(".")
    return (module.get_submodule(path) if path else module), last


def _table(owner: Module, name: str) -> dict | None:
    """The dict of a Module in which ``name`` is a parameter or buffer."""
    for table in (owner._parameters, owner._buffers):
        if name in table:
            return table
    return None


def _tied(module: Module, names: Mapping[str, Any]) -> dict[str, Any]:
    """``names`` with the same value for every other name of a parameter or buffer that is shared."""
    all_names: dict[int, list[str]] = {}
    for name, value in [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]:
        all_names.setdefault(id(value), []).append(name)
    full = dict(names)
    for group in all_names.values():
        given = [n for n in group if n in names]
        if not given or len(group) == 1:
            continue
        if any(names[n] is not names[given[0]] for n in given[1:]):
            raise ArgumentValueError(
                f"functional_call got multiple values for keys {sorted(given)}, which are tied. Consider using tie_weights=False"
            )
        full.update({n: names[given[0]] for n in group})
    return full


@contextlib.contextmanager
def swapped(module: Module, values: Mapping[str, Any], tie_weights: bool = True, strict: bool = False) -> Iterator[None]:
    """``module`` with other Tensors in place of the parameters and buffers named; what was there comes back at the end."""
    full = _tied(module, values) if tie_weights else dict(values)
    _check_names(module, full, strict)
    before: list[tuple[dict, str, Any]] = []
    try:
        for name, value in full.items():
            owner, last = _owner(module, name)
            table = _table(owner, last)
            table = owner.__dict__ if table is None else table
            before.append((table, last, table.get(last, _MISSING)))
            table[last] = value
        yield
    finally:
        for table, last, value in reversed(before):
            if value is _MISSING:
                table.pop(last, None)
            else:
                table[last] = value


def _check_names(module: Module, values: Mapping[str, Any], strict: bool) -> None:
    """Raise for a path that leads nowhere, for what is no Tensor, and, if ``strict``, for names that differ from the module's."""
    for name, value in values.items():
        owner, last = _owner(module, name)
        if not last:
            raise KeyError('tensor name can\'t be empty string ""')
        if not isinstance(value, Tensor):
            raise ArgumentTypeError(f"functional_call(): {name!r} must be a Tensor, not {type(value).__name__}")
        there = getattr(owner, last, None)
        if there is not None and not isinstance(there, Tensor):
            raise ArgumentTypeError(f"functional_call(): {name!r} stands for {there!r}, which is not an instance of torch.Tensor")
    if not strict:
        return
    known = {n for n, _ in [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]}
    parts = [
        f"{kind} key(s): {', '.join(map(repr, sorted(names)))}."
        for kind, names in (("Unexpected", values.keys() - known), ("Missing", known - values.keys()))
        if names
    ]
    if parts:
        raise OpError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(parts))


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call ``module`` with other Tensors in place of its parameters and buffers.

    Args:
        parameter_and_buffer_dicts: Tensors by name, in one dict or several; names left out keep the module's own. Buffers
            that the module changes in place change there. A name that the module doesn't have is an attribute during the call.
        args: the positional arguments of the call: a tuple, or a single one.
        tie_weights: a Tensor given for one name of a shared parameter stands for all its names.
        strict: the names must be exactly the module's.

    Raises:
        ValueError: a name in two dicts, or different Tensors for tied names.
        AttributeError: a path to a module that isn't there.
        RuntimeError: other names than the module's, if ``strict``.
        TypeError: what is no Tensor.

    >>> import funtorch as torch
    >>> layer = torch.nn.Linear(1, 1, bias=False)
    >>> torch.func.functional_call(layer, {"weight": torch.tensor([[3.0]])}, torch.tensor([2.0]))
    tensor([6.])
    """
    if isinstance(parameter_and_buffer_dicts, Mapping):
        values = dict(parameter_and_buffer_dicts)
    elif isinstance(parameter_and_buffer_dicts, (list, tuple)):
        values = {}
        for each in parameter_and_buffer_dicts:
            if not isinstance(each, Mapping):
                raise ArgumentValueError(
                    f"Expected all elements of parameter_and_buffer_dicts to be dictionaries, got {type(each).__name__}"
                )
            repeated = sorted(set(values) & set(each))
            if repeated:
                raise ArgumentValueError(
                    f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
                )
            values.update(each)
    else:
        raise ArgumentValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(parameter_and_buffer_dicts)}"
        )
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    with swapped(module, values, tie_weights, strict):
        return module(*given, **(kwargs or {}))


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of several modules of one class, stacked along a new first dimension.

    Returns:
        Two dicts by name; parameters are leaves that require grad as the modules' own do.

    Raises:
        RuntimeError: no modules, or modules of different classes or training modes.
    """
    models = list(models)
    if not models:
        raise OpError("stack_module_state: Expected at least one model, got 0.")
    if any(m.training != models[0].training for m in models):
        raise OpError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise OpError("stack_module_state: Expected all models to be of the same class.")
    from ..ops import registry

    stack = registry.names("torch")["stack"]
    parameters, buffers = {}, {}
    for name, first in models[0].named_parameters():
        each = [dict(m.named_parameters())[name] for m in models]
        if any(p.requires_grad != first.requires_grad for p in each):
            raise OpError(f"Expected {name!r} to have the same requires_grad in every model")
        parameters[name] = stack([p.detach() for p in each]).requires_grad_(first.requires_grad)
    for name, _ in models[0].named_buffers():
        buffers[name] = stack([dict(m.named_buffers())[name].detach() for m in models])
    return parameters, buffers


def functionalize(func: Callable, *, remove: str = "mutations") -> Callable:
    """``func`` without in-place changes of its intermediate values: here every function is that already.

    Raises RuntimeError for a ``remove`` other than "mutations" or "mutations_and_views".
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise OpError(f"functionalize: got remove={remove!r}, valid options are 'mutations' and 'mutations_and_views'")

    @functools.wraps(func)
    def same(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return same
