"""Pruning: a mask of zeros and ones that is multiplied to a parameter before each call."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator
from typing import Any

from ...errors import ArgumentTypeError, ArgumentValueError, OpError, OutOfBoundsError
from ...ops import registry
from .convert_parameters import parameters_to_vector

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer", "RandomStructured",
    "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip

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
        for key, hook in _hooks(module, name):
            del module._forward_pre_hooks[key]
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A tensor t (*) pruned, without any module. Raises AssertionError for scores of another shape."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {scores.shape} vs {t.shape}"
            )
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


def _hooks(module: Any, name: str) -> list[tuple[int, BasePruningMethod]]:
    """The pruning hooks on a parameter, by key."""
    hooks = module._forward_pre_hooks.items()
    return [(k, h) for k, h in hooks if isinstance(h, BasePruningMethod) and h._tensor_name == name]


def _joined(module: Any, name: str, method: BasePruningMethod) -> BasePruningMethod:
    """A method, together with those that prune the parameter already."""
    found = _hooks(module, name)
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


def _checked_amount(amount: Any) -> Any:
    if not isinstance(amount, numbers.Real):
        raise ArgumentTypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (
        not isinstance(amount, numbers.Integral) and not 0.0 <= float(amount) <= 1.0
    ):
        raise ArgumentValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
    return amount


def _count(amount: Any, size: int) -> int:
    """How many of ``size`` units are pruned: a number of them, or a share."""
    count = int(amount) if isinstance(amount, numbers.Integral) else round(amount * size)
    if count > size:
        raise ArgumentValueError(f"amount={count} should be smaller than the number of parameters to prune={size}")
    return count


def _structured_size(t: Any, dim: int) -> int:
    if t.dim() <= 1:
        raise ArgumentValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{t.shape} with {t.dim()} dims"
        )
    if dim >= t.dim():
        raise OutOfBoundsError(f"Invalid index {dim} for tensor of size {t.shape}")
    return t.shape[dim]


def _without(mask: Any, indices: Any) -> Any:
    """A mask with zeros at flat indices."""
    return mask.detach().reshape(-1).index_fill(0, indices, 0).reshape(mask.shape)


def _along(t: Any, dim: int, kept: Any, mask: Any) -> Any:
    """The mask so far, 0 in the channels that aren't among ``kept`` (bools)."""
    shape = [1] * t.dim()
    shape[dim] = -1
    return kept.to(t.dtype).reshape(shape) * mask.detach().to(dtype=t.dtype)


class Identity(BasePruningMethod):
    """Prunes nothing: the mask is all ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far."""
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random.

    Args:
        amount: how many, or a share in [0, 1] as a float.
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        self.amount = _checked_amount(amount)

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, with more zeros."""
        count = _count(self.amount, t.nelement())
        if count == 0:
            return default_mask.detach().clone()
        return _without(default_mask, _torch["rand_like"](t.detach()).reshape(-1).topk(count).indices)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements of least absolute value.

    Args:
        amount: how many, or a share in [0, 1] as a float.
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        self.amount = _checked_amount(amount)

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, with more zeros."""
        count = _count(self.amount, t.nelement())
        if count == 0:
            return default_mask.detach().clone()
        return _without(default_mask, t.detach().abs().reshape(-1).topk(count, largest=False).indices)


class RandomStructured(BasePruningMethod):
    """Prunes channels at random.

    Args:
        amount: how many, or a share in [0, 1] as a float.
        dim: along which the channels lie.
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        self.amount = _checked_amount(amount)
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, with more channels of zeros."""
        size = _structured_size(t, self.dim)
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        draws = _torch["rand"](size)
        return _along(t, self.dim, draws > draws.kthvalue(count).values, default_mask)


class LnStructured(BasePruningMethod):
    """Prunes the channels of least norm.

    Args:
        amount: how many, or a share in [0, 1] as a float.
        n: the norm's order.
        dim: along which the channels lie.
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        self.amount = _checked_amount(amount)
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, with more channels of zeros."""
        size = _structured_size(t, self.dim)
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        best = _torch["norm"](t.detach(), p=self.n, dim=others).topk(size - count).indices
        kept = _torch["zeros"](size, dtype=t.dtype).index_fill(0, best, 1)
        return _along(t, self.dim, kept, default_mask)


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says.

    Args:
        mask: zeros and ones, of the parameter's shape.
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far times the mask. Raises AssertionError for another shape."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Any, name: str) -> Any:
    """Make a parameter a pruned one (see `BasePruningMethod.apply`) without pruning it; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune a parameter by `RandomUnstructured`; returns the module."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune a parameter by `L1Unstructured`; returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune a parameter by `RandomStructured`; returns the module."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> Any:
    """Prune a parameter by `LnStructured`; returns the module."""
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune a parameter by a given mask; returns the module."""
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(parameters: Iterable[tuple[Any, str]], pruning_method: type, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prune several parameters as if they were one.

    Args:
        parameters: (module, name) pairs.
        pruning_method: an unstructured method.
        importance_scores: by such pairs; else the parameters themselves.
        kwargs: what the method's constructor gets.

    Raises:
        TypeError: arguments of other types, or a structured method.
    """
    if not isinstance(parameters, Iterable):
        raise ArgumentTypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise ArgumentTypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = list(parameters)
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise ArgumentTypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
            f"{method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    container = PruningContainer(method)
    values = [scores.get((module, name), getattr(module, name)) for module, name in pairs]
    masks = [getattr(module, f"{name}_mask", None) for module, name in pairs]
    so_far = [_torch["ones_like"](v) if m is None else m for v, m in zip(values, masks, strict=True)]
    mask = container.compute_mask(parameters_to_vector(values), parameters_to_vector(so_far))
    for (module, name), part in zip(pairs, mask.split([v.numel() for v in values]), strict=True):
        custom_from_mask(module, name, mask=part.view_as(getattr(module, name)))


def is_pruned(module: Any) -> bool:
    """Whether a module, or one below it, has a pruned parameter."""
    return any(isinstance(h, BasePruningMethod) for m in module.modules() for h in m._forward_pre_hooks.values())


def remove(module: Any, name: str) -> Any:
    """Make a pruned tensor the parameter, for good; returns the module. Raises ValueError if it isn't pruned."""
    found = _hooks(module, name)
    if not found:
        raise ArgumentValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    key, hook = found[0]
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module
