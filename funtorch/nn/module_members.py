"""What a Module owns, parameters, buffers and submodules: how they are registered, found, replaced, deleted.

They live in three tables (`_parameters`, `_buffers`, `_modules`) beside the plain attributes, and are reached
as attributes: assigning a Parameter or a Module registers it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import ArgumentTypeError, ArgumentValueError
from ..tensor import Tensor
from ..utils.hooks import RemovableHandle
from .parameter import Buffer, Parameter

TABLES = ("_parameters", "_buffers", "_modules")
HOOK_TABLES = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)

TOO_EARLY = "cannot assign {} before Module.__init__() call"
NOT_ALLOWED = "cannot assign '{}' as {} '{}' ({} or None expected)"
NOT_ALLOWED_HERE = "cannot assign '{}' object to {} '{}' ({} or None required)"
NON_LEAF = (
    "Cannot assign non-leaf Tensor to parameter '{0}'. Model parameters must be created explicitly. "
    "To express '{0}' as a function of another Tensor, compute the value in the forward() method."
)


def type_name(value: object) -> str:
    """The name of a value's type, as error messages give it: ``torch.FloatTensor``, ``int``, ``my.Class``."""
    if isinstance(value, Tensor):
        return value.type()
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


class RegistrationHooks:
    """Functions to be told about every registration of one kind, in any Module, before it happens."""

    def __init__(self) -> None:
        self.hooks: OrderedDict[int, Callable] = OrderedDict()

    def add(self, hook: Callable) -> RemovableHandle:
        handle = RemovableHandle(self.hooks)
        self.hooks[handle.id] = hook
        return handle

    def passed(self, module: ModuleMembers, name: str, value: Any) -> Any:
        """What is registered in the end: the value, or what the hooks put in its place."""
        for hook in list(self.hooks.values()):
            replacement = hook(module, name, value)
            if replacement is not None:
                value = replacement
        return value


PARAMETER_HOOKS, BUFFER_HOOKS, MODULE_HOOKS = RegistrationHooks(), RegistrationHooks(), RegistrationHooks()


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, name, parameter)`` before any Module registers one; may return another one."""
    return PARAMETER_HOOKS.add(hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, name, buffer)`` before any Module registers one; may return another one."""
    return BUFFER_HOOKS.add(hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, name, submodule)`` before any Module registers one; may return another one."""
    return MODULE_HOOKS.add(hook)


class ModuleMembers:
    """The part of Module that holds its members."""

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter, reached afterwards as attribute `name`; None keeps the name free for one.

        Raises:
            AttributeError: before ``Module.__init__()``.
            TypeError: `name` is no string, or `param` no Parameter.
            KeyError: the name is empty, has a dot, or is taken.
            ValueError: `param` was computed from other Tensors.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise ArgumentTypeError(NOT_ALLOWED_HERE.format(type_name(param), "parameter", name, "torch.nn.Parameter"))
        if param is not None and param.grad_fn is not None:
            raise ArgumentValueError(NON_LEAF.format(name))
        self._parameters[name] = None if param is None else PARAMETER_HOOKS.passed(self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a buffer: a Tensor of the module's state that is no parameter, such as a running mean.

        Args:
            name: the attribute to reach it by.
            tensor: the Tensor, of any shape and dtype; None keeps the name free for one.
            persistent: whether `state_dict` contains it.

        Raises:
            AttributeError: before ``Module.__init__()``.
            TypeError: `name` is no string, or `tensor` no Tensor.
            KeyError: the name is empty, has a dot, or is taken.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise ArgumentTypeError(NOT_ALLOWED_HERE.format(type_name(tensor), "buffer", name, "torch Tensor"))
        self._buffers[name] = BUFFER_HOOKS.passed(self, name, tensor)
        unsaved = self._non_persistent_buffers_set
        (unsaved.discard if persistent else unsaved.add)(name)

    def add_module(self, name: str, module: ModuleMembers | None) -> None:
        """Adds a submodule, reached afterwards as attribute `name`; None keeps the name free for one.

        Raises:
            TypeError: `name` is no string, or `module` no Module.
            KeyError: the name is empty, has a dot, or is taken.
        """
        if module is not None and not isinstance(module, ModuleMembers):
            raise ArgumentTypeError(f"{type_name(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = MODULE_HOOKS.passed(self, name, module)

    def register_module(self, name: str, module: ModuleMembers | None) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    def _check_name(self, kind: str, name: object, table: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"{kind} name should be a string. Got {type_name(name)}")
        got = f", got: {name}" if kind == "module" else ""
        # The order of the checks is PyTorch's: a module's name may be both taken and dotted.
        taken = f"attribute '{name}' already exists" if hasattr(self, name) and name not in table else None
        dotted = f'{kind} name can\'t contain "."{got}' if "." in name else None
        empty = f'{kind} name can\'t be empty string ""' if name == "" else None
        order = (taken, dotted, empty) if kind == "module" else (dotted, empty, taken)
        for problem in order:
            if problem is not None:
                raise KeyError(problem)

    def __getattr__(self, name: str) -> Any:
        # Reached only when the ordinary look-up has failed. One table after the other, the commonest first.
        own = self.__dict__
        if "_parameters" in own:
            if name in own["_parameters"]:
                return own["_parameters"][name]
            if name in own["_modules"]:
                return own["_modules"][name]
            if name in own["_buffers"]:
                return own["_buffers"][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            self._require_tables("parameters")
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, ModuleMembers):
            if name in own.get("_parameters", ()):
                raise ArgumentTypeError(NOT_ALLOWED.format(type_name(value), "parameter", name, "torch.nn.Parameter"))
            self._require_tables("module")
            self._forget(name, keep="_modules")
            own["_modules"][name] = MODULE_HOOKS.passed(self, name, value)
        elif "_parameters" in own and name in own["_parameters"]:
            _require_none(value, "parameter", name, "torch.nn.Parameter")
            self.register_parameter(name, None)
        elif "_modules" in own and name in own["_modules"]:
            _require_none(value, "child module", name, "torch.nn.Module")
            own["_modules"][name] = MODULE_HOOKS.passed(self, name, None)
        elif isinstance(value, Buffer) or name in own.get("_buffers", ()):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise ArgumentTypeError(NOT_ALLOWED.format(type_name(value), "buffer", name, "torch.nn.Buffer, torch.Tensor"))
        self._require_tables("buffer")
        if isinstance(value, Buffer):
            self._forget(name, keep="_buffers")
            self.register_buffer(name, value, value.persistent)
        else:
            self._buffers[name] = BUFFER_HOOKS.passed(self, name, value)

    def _require_tables(self, what: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(TOO_EARLY.format(what))

    def _forget(self, name: str, keep: str) -> None:
        """Drops what `name` stands for so far, except in the table where it is replaced."""
        own = self.__dict__
        own.pop(name, None)
        for table in TABLES:
            if table != keep:
                own[table].pop(name, None)
        if keep != "_buffers":
            own["_non_persistent_buffers_set"].discard(name)

    def __delattr__(self, name: str) -> None:
        own = self.__dict__
        for table in TABLES:
            if name in own.get(table, ()):
                del own[table][name]
                own["_non_persistent_buffers_set"].discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> Iterable[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[:1].isdigit())


def _require_none(value: Any, kind: str, name: str, wanted: str) -> None:
    if value is not None:
        raise ArgumentTypeError(NOT_ALLOWED.format(type_name(value), kind, name, wanted))
