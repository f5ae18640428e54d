"""How pruning hangs on a module: a mask as a buffer, the original as a parameter, a hook before each call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import ArgumentTypeError, ArgumentValueError, OutOfBoundsError
from ...ops import registry

__all__ = ["BasePruningMethod", "PruningContainer"]

_torch = registry.names("torch")


class BasePruningMethod:
    """A way to choose what is pruned, and the hook that applies it. A subclass has ``PRUNING_TYPE`` and `compute_mask`.

    ``PRUNING_TYPE`` says what the method sees of a tensor that is pruned already: "unstructured" the elements left,
    "structured" the channels left along ``dim``, "global" all.
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask (*) for importances t (*) and the mask so far (*). Raises NotImplementedError in this class."""
        raise NotImplementedError(f"{type(self).__name__}.compute_mask")

    def apply_mask(self, module: Any) -> Any:
        """The pruned tensor."""
        mask, original = getattr(module, f"{self._tensor_name}_mask"), getattr(module, f"{self._tensor_name}_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune a parameter: ``<name>_orig`` is trained from now on, and ``<name>_mask`` is a buffer.

        Args:
            module: which has the parameter.
            name: its name.
            args, kwargs: what the method's constructor gets.
            importance_scores: of the parameter's shape; None: the parameter itself.

        Returns:
            The method, or a `PruningContainer` if the parameter was pruned before.

        Raises:
            AssertionError: scores of another shape.
        """
        method = _joined(module, name, cls(*args, **kwargs))
        first = not isinstance(method, PruningContainer)
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got {scores.shape} vs {original.shape}"
            )
        so_far = _torch["ones_like"](original) if first else getattr(module, f"{name}_mask").detach().clone()
        mask = method.compute_mask(scores, default_mask=so_far)
        if first:
            del module._parameters[name]
            module.register_parameter(f"{name}_orig", original)
        module.register_buffer(f"{name}_mask", mask.detach())
        setattr(module, name, method.apply_mask(module))
        for key, _ in hooks_on(module, name):
            del module._forward_pre_hooks[key]
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A tensor t (*) pruned, without any module. Raises AssertionError for scores of another shape."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(f"importance_scores should have the same shape as tensor t, got {scores.shape} vs {t.shape}")
        return t * self.compute_mask(scores, default_mask=_torch["ones_like"](t) if default_mask is None else default_mask)

    def remove(self, module: Any) -> None:
        """Make the pruned tensor the parameter, for good."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(f"{name}_orig")
        original.data = weight.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


def hooks_on(module: Any, name: str) -> list[tuple[int, BasePruningMethod]]:
    """The pruning hooks on a parameter, by key."""
    held = module._forward_pre_hooks.items()
    return [(k, h) for k, h in held if isinstance(h, BasePruningMethod) and h._tensor_name == name]


def _joined(module: Any, name: str, method: BasePruningMethod) -> BasePruningMethod:
    """A method, together with those that prune the parameter already."""
    found = hooks_on(module, name)
    if len(found) > 1:
        raise AssertionError(
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer."
        )
    method._tensor_name = name
    if not found:
        return method
    before = found[0][1]
    container = PruningContainer(*before) if isinstance(before, PruningContainer) else PruningContainer(before)
    container._tensor_name = name
    container.add_pruning_method(method)
    return container


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other, on one parameter.

    Args:
        args: the methods.

    Raises:
        TypeError: something else. ValueError: methods for different names.
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add one more."""
        if not isinstance(method, BasePruningMethod):
            raise ArgumentTypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ArgumentValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}. "
                f"Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, with what the last method prunes of what is left."""
        method: Any = self._pruning_methods[-1]
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            place: Any = default_mask == 1
        elif kind == "structured":
            place = _channels_left(method, t, default_mask)
        elif kind == "global":
            place = (slice(None),) * t.dim()
        else:
            raise ArgumentValueError(f"Unrecognized PRUNING_TYPE {kind}")
        mask = default_mask.detach().clone().to(dtype=t.dtype)
        mask[place] = method.compute_mask(t.detach()[place], default_mask=default_mask[place]).to(dtype=mask.dtype)
        return mask


def _channels_left(method: Any, t: Any, mask: Any) -> tuple:
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    rank = t.dim()
    if not -rank <= method.dim < rank:
        raise OutOfBoundsError(f"Index is out of bounds for tensor with dimensions {rank}")
    dim = method.dim % rank
    place: list[Any] = [slice(None)] * rank
    place[dim] = mask.sum(dim=[d for d in range(rank) if d != dim]) != 0
    return tuple(place)
