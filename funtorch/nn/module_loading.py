"""Loading a state dict: the walk through the modules, taking an entry, going back if something is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..autograd.modes import no_grad
from ..cautions import caution
from ..tensor import Tensor
from .parameter import Parameter, is_lazy

if TYPE_CHECKING:
    from .module_members import ModuleMembers
    from .module_state import ModuleState
    from .module_walk import ModuleWalk

EXTRA_STATE = "_extra_state"

SIZE_MISMATCH = "size mismatch for {}: copying a param with shape {} from checkpoint, the shape in current model is {}."
NOT_A_TENSOR = (
    'While copying the parameter named "{}", expected torch.Tensor or Tensor-like object from checkpoint but received {}'
)
NOT_COPIED = (
    'While copying the parameter named "{}", whose dimensions in the model are {} and '
    "whose dimensions in the checkpoint are {}, an exception occurred : {}."
)
META_COPY = (
    "for {}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, "
    "which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to their "
    "corresponding key in the module instead of copying them in place?)"
)
IN_PLACE_ONLY = (
    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
    "if incompatible_keys need to be modified, it should be done inplace."
)


class IncompatibleKeys(NamedTuple):
    """The keys that a state dict lacked, and those that it had too many."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


IncompatibleKeys.__name__ = IncompatibleKeys.__qualname__ = "_IncompatibleKeys"


class Loading:
    """One `load_state_dict`: the versions that the dict brings, and what has been found wrong so far."""

    def __init__(self, state_dict: Mapping[str, Any], assign: bool) -> None:
        self.metadata = getattr(state_dict, "_metadata", None) or {}
        self.assign = assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []

    def load(self, module: ModuleState, entries: dict[str, Any], prefix: str) -> None:
        """Loads a module and those below it from the entries that start with its prefix."""
        local_metadata = dict(self.metadata.get(prefix[:-1], {}))
        if self.assign:
            local_metadata["assign_to_params_buffers"] = True
        # `strict` is always on here: the caller decides what to do with the keys, and wants all of them.
        module._load_from_state_dict(entries, prefix, local_metadata, True, self.missing, self.unexpected, self.errors)
        for name, child in module._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                self.load(child, {key: value for key, value in entries.items() if key.startswith(below)}, below)
        keys = IncompatibleKeys(self.missing, self.unexpected)
        for hook in list(module._load_state_dict_post_hooks.values()):
            if hook(module, keys) is not None:
                raise AssertionError(IN_PLACE_ONLY)


class Snapshot:
    """All Tensors of a module, to go back to. Payloads are immutable, so keeping them costs nothing."""

    def __init__(self, module: ModuleWalk) -> None:
        self.tables = [(m, dict(m._parameters), dict(m._buffers)) for m in module.modules()]
        tensors = itertools.chain(module.parameters(), module.buffers())
        self.values = [(t, Tensor._make_subclass(Tensor, t, False)) for t in tensors if not is_lazy(t)]

    def restore(self) -> None:
        """Puts everything back."""
        for tensor, before in self.values:
            if tensor._payload is not before._payload:
                tensor.data = before
        for module, parameters, buffers in self.tables:
            for table, kept in ((module._parameters, parameters), (module._buffers, buffers)):
                table.clear()
                table.update(kept)


def own_state(module: ModuleMembers) -> list[tuple[str, Tensor]]:
    """A module's own parameters and persistent buffers, by name."""
    skipped = module._non_persistent_buffers_set
    buffers = ((name, buffer) for name, buffer in module._buffers.items() if name not in skipped)
    return [(name, t) for name, t in itertools.chain(module._parameters.items(), buffers) if t is not None]


def take(module: ModuleMembers, name: str, tensor: Tensor, key: str, new: Any, assign: bool) -> str | None:
    """Puts an entry in the place of a Tensor, or copies it there; returns what stands in the way, or None."""
    if not isinstance(new, Tensor):
        return NOT_A_TENSOR.format(key, type(new))
    lazy = is_lazy(tensor)
    if not lazy and tensor.dim() == 0 and not is_lazy(new) and tuple(new.shape) == (1,):
        # PyTorch before 0.4 had no Tensors without dimensions: what is one today was saved with one.
        new = new[0]
    if not lazy and new.shape != tensor.shape:
        return SIZE_MISMATCH.format(key, new.shape, tensor.shape)
    try:
        with no_grad():
            if assign:
                setattr(module, name, as_assigned(tensor, new))
                return None
            if tensor.device.type == "meta" != new.device.type:
                caution(META_COPY.format(key))
            tensor.copy_(new)
    except Exception as error:
        return NOT_COPIED.format(key, tensor.size(), new.size(), error.args)
    return None


def as_assigned(tensor: Tensor, new: Tensor) -> Tensor:
    """What takes a Tensor's place: as much a Parameter, and requiring as much grad, as it."""
    if not isinstance(tensor, Parameter):
        return new
    if not isinstance(new, Parameter):
        return Parameter(new, requires_grad=tensor.requires_grad)
    return new.requires_grad_(tensor.requires_grad)


def unexpected_keys_of(module: ModuleMembers, state_dict: Mapping[str, Any], prefix: str) -> list[str]:
    """The keys under a module's prefix that belong neither to it nor to a module below it."""
    own = {name for name, _ in own_state(module)}
    found = []
    for key in state_dict:
        if key.startswith(prefix) and key != prefix + EXTRA_STATE:
            name, dot, _ = key[len(prefix) :].partition(".")
            if name not in (module._modules if dot else own):
                found.append(key)
    return found
