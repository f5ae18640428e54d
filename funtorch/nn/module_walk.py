"""Going through a Module's tree: its modules, parameters and buffers with their paths, and finding one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self, cast

from ..errors import ArgumentValueError
from ..tensor import Tensor
from .module_members import ModuleMembers
from .parameter import Parameter

if TYPE_CHECKING:
    from .module import Module

NO_TARGET = "Cannot set the submodule without a target name!"


class ModuleWalk(ModuleMembers):
    """The part of Module that walks its tree."""

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Yields this module and all below it, each with its path, in the order of registration.

        Args:
            memo: modules seen already, which are left out.
            prefix: put before each path.
            remove_duplicate: whether a module that stands at several places comes once.
        """
        memo = set() if memo is None else memo
        this = cast("Module", self)  # every instance is a whole Module
        if this in memo:
            return
        if remove_duplicate:
            memo.add(this)
        yield prefix, this
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, _join(prefix, name), remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Yields this module and all below it, each once; without `remove_duplicate`, at each place where it stands."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yields the modules right below this one, each once, with their names."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """Yields the modules right below this one, each once."""
        for _, module in self.named_children():
            yield module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yields the parameters, each with its path.

        Args:
            prefix: put before each path.
            recurse: whether those of the modules below come too.
            remove_duplicate: whether a parameter that stands at several places comes once.
        """
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yields the parameters, each once; with `recurse`, those of the modules below too."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yields the buffers, each with its path; arguments as `named_parameters` has them."""
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yields the buffers, each once; with `recurse`, those of the modules below too."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """Yields what a function finds in each module, with paths; None is left out."""
        owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        seen: set[int] = set()
        for path, module in owners:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield _join(path, name), member

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Calls ``fn(module)`` for all modules below and then this one; returns the module."""
        for module in self.children():
            module.apply(fn)
        fn(cast("Module", self))
        return self

    def get_submodule(self, target: str) -> Module:
        """The module at a path such as ``"layers.0.attention"``; the empty path is the module itself.

        Raises:
            AttributeError: there is nothing at the path, or no Module.
        """
        module = cast("Module", self)
        for name in target.split(".") if target else ():
            module = _step(module, name)
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path. Raises AttributeError where there is none."""
        owner, name = self._owner(target)
        found = _attribute(owner, name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path. Raises AttributeError where there is none."""
        owner, name = self._owner(target)
        found = _attribute(owner, name)
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts a module at a path, in place of what is there.

        Args:
            target: the path, such as ``"layers.0.attention"``.
            module: the new module.
            strict: whether there must be a module at the path already.

        Raises:
            ValueError: the path is empty, or `module` no Module.
            AttributeError: the path leads to nothing, or to something that isn't a Module.
        """
        if not target:
            raise ArgumentValueError(NO_TARGET)
        if not isinstance(module, ModuleMembers):
            raise ArgumentValueError(f"`module` is not an nn.Module, found {type(module)}")
        owner, name = self._owner(target)
        if strict or hasattr(owner, name):
            _step(owner, name)
        setattr(owner, name, module)

    def _owner(self, target: str) -> tuple[Module, str]:
        path, _, name = target.rpartition(".")
        return self.get_submodule(path), name


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _attribute(owner: ModuleMembers, name: str) -> Any:
    if not hasattr(owner, name):
        raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
    return getattr(owner, name)


def _step(owner: ModuleMembers, name: str) -> Module:
    found = _attribute(owner, name)
    if not isinstance(found, ModuleMembers):
        raise AttributeError(f"`{name}` is not an nn.Module")
    return cast("Module", found)
