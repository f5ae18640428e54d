"""Module: the base of all layers and models. Each of its parts has a file of its own, ``module_*.py``."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Self

from ..core.state import state
from ..errors import ArgumentTypeError, ArgumentValueError, MissingError
from .module_call import HookedCall
from .module_errors import note_place
from .module_hooks import FOR_ALL
from .module_members import HOOK_TABLES, TABLES
from .module_state import ModuleState
from .module_tree import register

__all__ = ["Module"]

NO_FORWARD = 'Module [{}] is missing the required "forward" function'
NOT_INITIALIZED = "'{}' object has no attribute {}: its __init__ must call super().__init__() first"
NOT_BOOLEAN = "training mode is expected to be boolean"

ANY_HOOK = FOR_ALL.any


class Module(ModuleState):
    """The base class of layers and models: parameters, buffers and submodules, and a `forward` that computes.

    A subclass makes its parts in `__init__`, after ``super().__init__()``, and defines `forward`. Calling the
    module runs its hooks and `forward`.

    Example:
        >>> import funtorch
        >>> class Scale(funtorch.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = funtorch.nn.Parameter(funtorch.ones(()))
        ...     def forward(self, x):
        ...         return self.factor * x
        >>> Scale()(funtorch.tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """

    training: bool
    dump_patches: bool = False
    call_super_init: bool = False
    _compiled_call_impl: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            problem = (
                f"got an unexpected keyword argument '{next(iter(kwargs))}'"
                if kwargs
                else f"takes 1 positional argument but {len(args) + 1} were given"
            )
            raise ArgumentTypeError(f"{type(self).__name__}.__init__() {problem}")
        # Straight into the instance's dict: __setattr__ needs these tables already.
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_non_persistent_buffers_set"] = set()
        own["_is_full_backward_hook"] = None
        for table in HOOK_TABLES:
            own[table] = OrderedDict()
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        register(cls)

    def forward(self, *args: Any) -> Any:
        """Computes the output; every subclass defines it. Raises NotImplementedError where it does not."""
        raise MissingError(NO_FORWARD.format(type(self).__name__))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        if "_compiled_call_impl" in own:
            return own["_compiled_call_impl"](*args, **kwargs)
        try:
            hooked = (
                ANY_HOOK
                or own["_forward_hooks"]
                or own["_forward_pre_hooks"]
                or own["_backward_hooks"]
                or own["_backward_pre_hooks"]
            )
        except KeyError as missing:
            raise AttributeError(NOT_INITIALIZED.format(type(self).__name__, missing)) from None
        if hooked or state.recorder is not None:
            return self._call_impl(*args, **kwargs)
        try:
            return self.forward(*args, **kwargs)
        except Exception as error:
            note_place(error, self)
            raise

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """The whole of a call: tells an active recorder, and runs the hooks with `forward`."""
        try:
            if state.recorder is not None:
                # Which path the module takes may depend on its training flag.
                state.recorder.module_called(self)
            return HookedCall(self, args, kwargs).run()
        except Exception as error:
            note_place(error, self)
            raise

    def _slow_forward(self, *input: Any, **kwargs: Any) -> Any:
        return self.forward(*input, **kwargs)

    _wrapped_call_impl = __call__

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Has this module's calls compiled from now on; takes the arguments of `funtorch.compile`."""
        from ..transforms import compile

        object.__setattr__(self, "_compiled_call_impl", compile(self._call_impl, *args, **kwargs))

    def train(self, mode: bool = True) -> Self:
        """Puts this module and all below it in training mode, or with False in evaluation mode; returns it.

        Raises:
            ValueError: `mode` is no bool.
        """
        if not isinstance(mode, bool):
            raise ArgumentValueError(NOT_BOOLEAN)
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Puts this module and all below it in evaluation mode; returns it."""
        return self.train(False)

    def _get_name(self) -> str:
        return type(self).__name__

    def _replicate_for_data_parallel(self) -> Self:
        """A shallow copy without parameters, and with tables of buffers and submodules of its own."""
        replica = self.__new__(type(self))
        replica.__dict__ = {
            **self.__dict__, "_parameters": {}, "_buffers": self._buffers.copy(), "_modules": self._modules.copy(), "_is_replica": True,
        }  # fmt: skip
        return replica

    def extra_repr(self) -> str:
        """What stands between the parentheses when the module is printed; a subclass may define it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({extra})"
        body = "".join(f"\n  {line}" for line in lines + children)
        return f"{self._get_name()}({body}\n)" if body else f"{self._get_name()}()"

    def __getstate__(self) -> dict[str, Any]:
        # A compiled call belongs to this process, and to this very module.
        return {name: value for name, value in self.__dict__.items() if name != "_compiled_call_impl"}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        own = self.__dict__
        own.update(saved)
        # What a module that was pickled by an older version, or by a subclass of its own mind, may lack.
        own.setdefault("_non_persistent_buffers_set", set())
        own.setdefault("_is_full_backward_hook", None)
        for table in HOOK_TABLES:
            own.setdefault(table, OrderedDict())
        for table in TABLES:
            own.setdefault(table, {})


def indented(text: str) -> str:
    """A text whose lines after the first stand two columns to the right."""
    return text.replace("\n", "\n  ")


register(Module)
