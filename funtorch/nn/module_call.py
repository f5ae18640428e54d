"""Calling a Module that has hooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..cautions import caution
from ..errors import OpError
from .module_hooks import FOR_ALL

if TYPE_CHECKING:
    from collections.abc import Callable

    from .module import Module

NOT_A_PAIR = "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {}."
SILENCED = (
    "module forward hook with ``always_call=True`` raised an exception that was silenced "
    "as another error was raised in forward: {}"
)


class HookedCall:
    """One call of a Module with all its hooks."""

    def __init__(self, module: Module, args: tuple, kwargs: dict[str, Any]) -> None:
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.result: Any = None
        self.called: set[int] = set()

    def run(self) -> Any:
        try:
            self._run_pre_hooks()
            gates = backward_gates(self.module)
            if gates is not None:
                self.args = gates.enter(self.args)
            self.result = self.module.forward(*self.args, **self.kwargs)
            for key, hook, with_kwargs, _ in self._forward_hooks():
                self.called.add(key)
                self._replace_result(self._call(hook, with_kwargs))
            return self.result if gates is None else gates.leave(self.result)
        except Exception:
            self._run_always_called()
            raise

    def _run_pre_hooks(self) -> None:
        module = self.module
        for hook in list(FOR_ALL.forward_pre.values()):
            self._replace_args(hook(module, self.args))
        for key, hook in list(module._forward_pre_hooks.items()):
            if key not in module._forward_pre_hooks_with_kwargs:
                self._replace_args(hook(module, self.args))
                continue
            both = hook(module, self.args, self.kwargs)
            if both is not None:
                if not (isinstance(both, tuple) and len(both) == 2):
                    raise OpError(NOT_A_PAIR.format(both))
                self.args, self.kwargs = both

    def _replace_args(self, new: Any) -> None:
        if new is not None:
            self.args = new if isinstance(new, tuple) else (new,)

    def _replace_result(self, new: Any) -> None:
        if new is not None:
            self.result = new

    def _forward_hooks(self) -> Iterator[tuple[int, Callable, bool, bool]]:
        """The hooks after `forward`: id, function, whether it takes keywords, whether it is always called."""
        own = self.module
        for hooks, with_kwargs, always in (
            (FOR_ALL.forward, FOR_ALL.forward_with_kwargs, FOR_ALL.forward_always_called),
            (own._forward_hooks, own._forward_hooks_with_kwargs, own._forward_hooks_always_called),
        ):
            for key, hook in list(hooks.items()):
                yield key, hook, key in with_kwargs, key in always

    def _call(self, hook: Callable, with_kwargs: bool) -> Any:
        if with_kwargs:
            return hook(self.module, self.args, self.kwargs, self.result)
        return hook(self.module, self.args, self.result)

    def _run_always_called(self) -> None:
        for key, hook, with_kwargs, always in self._forward_hooks():
            if not always or key in self.called:
                continue
            try:
                self._replace_result(self._call(hook, with_kwargs))
            except Exception as error:
                # The error on its way is the one to report.
                caution(SILENCED.format(error))


def backward_gates(module: Module) -> Any:
    """The gates for the backward hooks that a Module has at this call; None where it has none."""
    if not (module._backward_hooks or module._backward_pre_hooks or FOR_ALL.backward or FOR_ALL.backward_pre):
        return None
    from .module_backward import BackwardGates

    before = [*FOR_ALL.backward_pre.values(), *module._backward_pre_hooks.values()]
    after = [*FOR_ALL.backward.values(), *module._backward_hooks.values()]
    return BackwardGates(module, before, after)
