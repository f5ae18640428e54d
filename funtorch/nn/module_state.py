"""A Module's state as a dict of Tensors by path, and taking such a dict back."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, cast

from ..cautions import caution
from ..errors import ArgumentTypeError, OpError
from ..utils.hooks import RemovableHandle
from .module_hooks import ModuleHooks, _add
from .module_loading import (
    EXTRA_STATE,
    IncompatibleKeys,
    Loading,
    Snapshot,
    own_state,
    take,
    unexpected_keys_of,
)

POSITIONAL = "state_dict(): positional arguments are deprecated; name them: state_dict(destination=..., prefix=...)"
POST_HOOK_RESULT = "state_dict post-hook must return None"
NOT_A_DICT = "Expected state_dict to be dict-like, got {}."
MISSING = "Missing key(s) in state_dict: {}. "
UNEXPECTED = "Unexpected key(s) in state_dict: {}. "
FAILED = "Error(s) in loading state_dict for {}:\n\t{}"
NO_EXTRA_STATE = "{0}: {1}() is called only where both get_extra_state and set_extra_state are defined"


class BoundHook:
    """A hook that gets its Module first; keeps it weakly, so that the Module is no part of a circle."""

    def __init__(self, hook: Callable, module: ModuleState) -> None:
        self.hook = hook
        self.module = weakref.ref(module)

    def __call__(self, *args: Any) -> Any:
        return self.hook(self.module(), *args)

    def __getstate__(self) -> tuple[Callable, ModuleState | None]:
        return self.hook, self.module()

    def __setstate__(self, saved: tuple[Callable, ModuleState]) -> None:
        self.hook = saved[0]
        self.module = weakref.ref(saved[1])


class PostHook:
    """A hook that may change the state dict, and not replace it."""

    def __init__(self, hook: Callable) -> None:
        self.hook = hook

    def __call__(self, *args: Any) -> None:
        if self.hook(*args) is not None:
            raise OpError(POST_HOOK_RESULT)


class ModuleState(ModuleHooks):
    """The part of Module that saves and loads."""

    _version = 1

    def get_extra_state(self) -> Any:
        """What a subclass wants in its state dict besides Tensors; goes with `set_extra_state`."""
        raise OpError(NO_EXTRA_STATE.format(type(self).__name__, "get_extra_state"))

    def set_extra_state(self, state: Any) -> None:
        """Takes back what `get_extra_state` returned."""
        raise OpError(NO_EXTRA_STATE.format(type(self).__name__, "set_extra_state"))

    def state_dict(
        self,
        *args: Any,
        destination: dict[str, Any] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """All parameters and persistent buffers by path; its attribute `_metadata` has each module's version.

        Args:
            args: the same three by position, deprecated.
            destination: a dict to put them in; None: a new one.
            prefix: put before each path.
            keep_vars: whether the entries are the parameters themselves; otherwise they are detached.

        Returns: the dict. Its Tensors share their values with the module's.

        Example:
            >>> import funtorch
            >>> {name: tensor.shape for name, tensor in funtorch.nn.Linear(2, 3).state_dict().items()}
            {'weight': torch.Size([3, 2]), 'bias': torch.Size([3])}
        """
        if args:
            caution(POSITIONAL, FutureWarning)
            given: Any = (*args, *(destination, prefix, keep_vars)[len(args) :])
            destination, prefix, keep_vars = given
        if destination is None:
            made: Any = OrderedDict()
            made._metadata = OrderedDict()
            destination = cast(dict[str, Any], made)
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in list(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in list(self._state_dict_hooks.values()):
            result = hook(self, destination, prefix, local_metadata)
            destination = destination if result is None else result
        return destination

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Puts this module's own parameters, persistent buffers and extra state in a dict."""
        for name, tensor in own_state(self):
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not ModuleState.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def register_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, prefix, keep_vars)`` before each `state_dict`."""
        return _add(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, state_dict, prefix, local_metadata)`` after each `state_dict`."""
        return _add(self._state_dict_hooks, PostHook(hook))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """As `register_state_dict_post_hook`; what the hook returns, if not None, takes the dict's place."""
        return _add(self._state_dict_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., None], with_module: bool = False) -> RemovableHandle:
        """As `register_load_state_dict_pre_hook`; without `with_module` the hook does not get the module."""
        return _add(self._load_state_dict_pre_hooks, BoundHook(hook, self) if with_module else hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls a function before a state dict is loaded, which may change the dict (a copy of the caller's).

        Args:
            hook: called as ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
                unexpected_keys, error_msgs)``.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, incompatible_keys)`` after each load; may change the two lists in place."""
        return _add(self._load_state_dict_post_hooks, hook)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        """Copies parameters and buffers from a dict by path; where it fails, the module is as it was before.

        Args:
            state_dict: Tensors by path, as `state_dict` gives them.
            strict: whether the dict must have exactly the module's keys.
            assign: whether the dict's Tensors take the place of the module's, with their dtype and device.

        Returns: the missing and the unexpected keys.

        Raises:
            TypeError: `state_dict` is no mapping.
            RuntimeError: keys or sizes differ; the message names all of them.
        """
        if not isinstance(state_dict, Mapping):
            raise ArgumentTypeError(NOT_A_DICT.format(type(state_dict)))
        loading = Loading(state_dict, assign)
        before = Snapshot(self)
        try:
            loading.load(self, OrderedDict(state_dict), "")
            problems = list(loading.errors)
            if strict:
                for template, keys in ((UNEXPECTED, loading.unexpected), (MISSING, loading.missing)):
                    if keys:
                        problems.insert(0, template.format(", ".join(f'"{key}"' for key in keys)))
            if problems:
                raise OpError(FAILED.format(type(self).__name__, "\n\t".join(problems)))
        except Exception:
            before.restore()
            raise
        return IncompatibleKeys(loading.missing, loading.unexpected)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Takes this module's own Tensors and extra state from a dict, and notes in three lists what fails.

        A subclass overrides it to read older forms; `local_metadata` has the version that wrote the dict.
        """
        for hook in list(self._load_state_dict_pre_hooks.values()):
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, tensor in list(own_state(self)):
            if prefix + name not in state_dict:
                if strict:
                    missing_keys.append(prefix + name)
                continue
            problem = take(self, name, tensor, prefix + name, state_dict[prefix + name], assign)
            if problem is not None:
                error_msgs.append(problem)
        key = prefix + EXTRA_STATE
        takes_extra = type(self).set_extra_state is not ModuleState.set_extra_state
        if takes_extra and key in state_dict:
            self.set_extra_state(state_dict[key])
        elif strict and takes_extra:
            missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)
        if strict:
            unexpected_keys += unexpected_keys_of(self, state_dict, prefix)
