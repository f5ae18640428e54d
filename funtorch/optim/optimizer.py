"""Optimizer: parameter groups, state, hooks, and PyTorch's state_dict; what an algorithm does stands in a file of its own."""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import numpy as np

from ..autograd.modes import no_grad
from ..cautions import caution
from ..core.state import noted
from ..core.state import state as mode
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..tensor import Tensor
from ..utils.hooks import RemovableHandle
from .copied_steps import (  # noqa: F401
    CopiedSteps,
    _capturable_doc,
    _default_to_fused_or_foreach,
    _device_dtype_check_for_fused,
    _differentiable_doc,
    _disable_dynamo_if_unsupported,
    _dispatch_sqrt,
    _foreach_doc,
    _foreach_supported_types,
    _fused_doc,
    _get_capturable_supported_devices,
    _get_scalar_dtype,
    _get_value,
    _maximize_doc,
    _params_doc,
    _stack_if_compiling,
    _to_scalar,
    _use_grad_for_differentiable,
    _view_as_real,
)

ParamsT = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]  # what an optimiser is made of
_params_t = ParamsT  # its name before it was public
Args, Kwargs, StateDict = tuple[Any, ...], dict[str, Any], dict[str, Any]
DeviceDict, DeviceDtypeDict = dict[Any, Tensor], dict[tuple[Any, Any], Tensor]


_pre_hooks: OrderedDict[int, Callable] = OrderedDict()  # of all optimisers
_post_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_optimizer_pre_hooks, _global_optimizer_post_hooks = _pre_hooks, _post_hooks


class _RequiredParameter:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def _registered(hooks: OrderedDict[int, Callable], hook: Callable, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of every optimiser; it may return other args and kwargs.

    The first of the args is the optimiser itself, as in PyTorch.
    """
    return _registered(_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of every optimiser."""
    return _registered(_post_hooks, hook)


def _profiled(step: Callable) -> Callable:
    """``step`` between the hooks that were registered for it."""

    @functools.wraps(step)
    def with_hooks(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if mode.recorder is not None:
            mode.recorder.stepped(self)
        own = self.__dict__  # which lacks hooks where a wrapper of another optimiser never called __init__
        args = (self, *args)
        for hook in [*_pre_hooks.values(), *own.get("_optimizer_step_pre_hooks", {}).values()]:
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise OpError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
            args, kwargs = changed
        self._opt_called = True  # schedules warn when they are asked first
        with noted("Optimizer.step#{}.step", self):
            result = step(*args, **kwargs)
        for hook in [*own.get("_optimizer_step_post_hooks", {}).values(), *_post_hooks.values()]:
            hook(self, args, kwargs)
        return result

    with_hooks.hooked = True  # type: ignore[attr-defined]
    return with_hooks


class Optimizer(CopiedSteps):
    """Base of all optimisers. A subclass defines ``step``, and may use `funtorch.optim.update.apply_rule` for it.

    Args:
        params: Tensors, (name, Tensor) pairs, or dicts with a key "params" and options of their own.
        defaults: the options of groups that don't give them.

    Raises:
        TypeError: ``params`` is a Tensor or holds something else.
        ValueError: no parameters, a non-leaf, or a parameter in two groups.
    """

    _opt_called: bool
    _optimizer_step_pre_hooks: OrderedDict[int, Callable]
    _optimizer_step_post_hooks: OrderedDict[int, Callable]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Callable]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Callable]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Callable]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Callable]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise ArgumentTypeError(
                f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {params.__class__.__name__}"
            )
        self._make_hooks()
        self.defaults = defaults
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ArgumentValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)  # the user's own dict, which a later change reaches

    profile_hook_step = staticmethod(_profiled)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__ and not getattr(cls.step, "hooked", False):
            cls.step = _profiled(cls.step)  # type: ignore[method-assign]

    def _make_hooks(self) -> None:
        for name in ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post"):
            self.__dict__.setdefault(f"_optimizer_{name}_hooks", OrderedDict())

    def __getstate__(self) -> dict:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, saved: dict) -> None:
        self.__dict__.update(saved)
        self._make_hooks()

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines += [*([""] if number else []), f"Parameter Group {number}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"]) if self.param_groups else lines[0] + ")"

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters with options of its own. Raises as the constructor does."""
        if not isinstance(param_group, dict):
            raise ArgumentTypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise ArgumentTypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change "
                "between runs. Please use a list instead."
            )
        params = [given] if isinstance(given, Tensor) else list(given)
        names = [p[0] for p in params if isinstance(p, tuple)]
        params = [p[1] if isinstance(p, tuple) else p for p in params]
        for p in params:
            if not isinstance(p, Tensor):
                raise ArgumentTypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
                raise ArgumentValueError("can't optimize a non-leaf Tensor")
        if names and len(names) != len(params):
            raise ArgumentValueError("all optimizer params should be with/without names. Some param names are missing")
        if self.param_groups and bool(names) != ("param_names" in self.param_groups[0]):
            given, before = ("with", "without") if names else ("without", "with")
            raise ArgumentValueError(
                f"all optimizer param groups should be with/without names. cannot add param group {given} names to the optimizer "
                f"{before} names"
            )
        if names:
            param_group["param_names"] = names
        param_group["params"] = params
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ArgumentValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        held = {id(p) for group in self.param_groups for p in group["params"]}
        if len({id(p) for p in params}) < len(params):
            caution("optimizer contains a parameter group with duplicate parameters: each is stepped as often as it is there")
        if any(id(p) in held for p in params):
            raise ArgumentValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients: None, or zeros in place with ``set_to_none=False``."""
        recorder = mode.recorder
        with noted("Optimizer.zero_grad#{}.zero_grad", self):
            for p in (p for group in self.param_groups for p in group["params"]):
                if set_to_none:
                    if recorder is not None:
                        recorder.clear_grad(p)
                    p._grad = None
                elif p.grad is not None:
                    p.grad.detach_()
                    p.grad.zero_()

    def step(self, closure: Callable | None = None) -> Any:
        """Change the parameters by their gradients. ``closure`` computes the loss anew, and its result is returned."""
        raise NotImplementedError(f"{type(self).__name__} must define step()")

    @staticmethod
    def _closure_loss(closure: Callable | None) -> Any:
        if closure is None:
            return None
        before, mode.grad = mode.grad, True
        try:
            return closure()
        finally:
            mode.grad = before

    # Hooks

    def _hook(self, name: str, hook: Callable, prepend: bool = False) -> RemovableHandle:
        return _registered(getattr(self, f"_optimizer_{name}_hooks"), hook, prepend)

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step."""
        return self._hook("step_pre", hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return self._hook("step_post", hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict`."""
        return self._hook("state_dict_pre", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after `state_dict`; what it returns replaces the result."""
        return self._hook("state_dict_post", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before `load_state_dict`; what it returns is loaded instead."""
        return self._hook("load_state_dict_pre", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after `load_state_dict`."""
        return self._hook("load_state_dict_post", hook, prepend)

    # Saving

    def _numbers(self) -> dict[int, int]:
        """The number of each parameter, in the order of the groups."""
        params = chain.from_iterable(group["params"] for group in self.param_groups)
        return {id(p): i for i, p in enumerate(params)}

    def state_dict(self) -> dict[str, Any]:
        """The state by parameter number, and the groups' options: PyTorch's format."""
        for hook in list(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)
        numbers = self._numbers()
        groups = [
            {**{k: v for k, v in g.items() if k != "params"}, "params": [numbers[id(p)] for p in g["params"]]}
            for g in self.param_groups
        ]
        packed = {(numbers[id(k)] if isinstance(k, Tensor) else k): v for k, v in self.state.items()}
        result: dict[str, Any] = {"state": packed, "param_groups": groups}
        for hook in list(self._optimizer_state_dict_post_hooks.values()):
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    @no_grad()
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave. Raises ValueError if groups or their sizes differ."""
        given = dict(state_dict)
        for hook in list(self._optimizer_load_state_dict_pre_hooks.values()):
            changed = hook(self, given)
            given = given if changed is None else changed
        saved_groups = copy.deepcopy(given["param_groups"])
        if len(self.param_groups) != len(saved_groups):
            raise ArgumentValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(self.param_groups, saved_groups, strict=True)):
            raise ArgumentValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        ours = chain.from_iterable(g["params"] for g in self.param_groups)
        params = dict(zip(chain.from_iterable(g["params"] for g in saved_groups), ours, strict=True))
        loaded: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in given["state"].items():
            loaded[params.get(key, key)] = _loaded(params[key], value) if key in params else copy.deepcopy(value)
        for group, saved in zip(self.param_groups, saved_groups, strict=True):
            saved["params"] = group["params"]
            if "param_names" in group:
                saved["param_names"] = group["param_names"]
        self.__setstate__({"state": loaded, "param_groups": saved_groups})  # where a subclass gives old states what they lack
        for hook in list(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)


def _loaded(param: Tensor, value: Any, key: str | None = None) -> Any:
    """Loaded state as the parameter's dtype and where it is (the step keeps its own)."""
    if isinstance(value, Tensor):
        copied = value.detach().clone()
        if key != "step" and param.is_floating_point() and copied.is_floating_point():
            copied = copied.to(device=param.device, dtype=param.dtype)
        return copied
    if isinstance(value, dict):
        return {k: _loaded(param, v, k) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return Tensor._of_numpy(np.array(value))
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(_loaded(param, v) for v in value)  # type: ignore[call-arg]
    return value


for _each in (
    _default_to_fused_or_foreach, _device_dtype_check_for_fused, _disable_dynamo_if_unsupported, _dispatch_sqrt,
    _get_capturable_supported_devices, _get_scalar_dtype, _get_value, _stack_if_compiling, _to_scalar, _use_grad_for_differentiable,
    _view_as_real,
):  # fmt: skip
    _each.__module__ = __name__  # how they are printed and pickled
