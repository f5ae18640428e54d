"""Devices: PyTorch's names (``cpu``, ``cuda``, ``tpu``, ``meta``) on JAX's platforms."""

from __future__ import annotations

import functools
import re

import jax

from .errors import ArgumentTypeError, NoChipError, OpError

_TYPES = ("cpu", "cuda", "gpu", "tpu", "xla", "meta", "mps", "xpu")
_PLATFORM = {"cuda": "gpu", "gpu": "gpu", "tpu": "tpu", "cpu": "cpu"}
_NAME = {"gpu": "cuda", "cuda": "cuda", "rocm": "cuda", "tpu": "tpu", "cpu": "cpu"}


class device:
    """Where a Tensor lives: ``device("cuda:0")``, ``device("cuda", 0)``, ``device("cpu")``.

    Raises RuntimeError for a name PyTorch does not know.

    >>> device("cuda", 1).index
    1
    """

    __slots__ = ("type", "index")
    type: str
    index: int | None

    def __init__(self, type: str | int | device, index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        if isinstance(type, int):
            index, type = type, "cuda"
        if not isinstance(type, str):
            raise ArgumentTypeError(f"device(): argument 'type' must be str, not {type.__class__.__name__}")
        match = re.fullmatch(r"([a-z_]+)(?::(0|[1-9]\d*))?", type)
        if match is None or match[1] not in _TYPES:
            raise OpError(f"Invalid device string: {type!r}; expected one of {', '.join(_TYPES)}, with an index or without")
        if match[2] is not None and index is not None:
            raise OpError(f"type (string) must not include an index because index was passed explicitly: {type}")
        if index is not None and index < 0:
            raise OpError(f"Device index must not be negative, got {index}")
        self.type = match[1]
        self.index = int(match[2]) if match[2] is not None else index

    def __repr__(self) -> str:
        inner = f"type={self.type!r}" + ("" if self.index is None else f", index={self.index}")
        return f"device({inner})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple:
        return device, (str(self),)

    def __enter__(self) -> device:
        """``with device(...)``: where new Tensors are made inside, unless they say otherwise."""
        defaults.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        defaults.pop()


CPU = device("cpu")
META = device("meta")
# Where new Tensors are made: what `set_default_device` said, then the devices that are open as contexts.
defaults = [CPU]


_current: dict[str, int] = {}  # the index that a name without one has, by JAX's platform


def devices_of(platform: str | None) -> list[jax.Device]:
    """The devices that JAX sees of one of its platforms; none where it has no such platform."""
    try:
        return jax.devices(platform) if platform else []
    except RuntimeError:
        return []


def current_index(platform: str) -> int:
    """The index that ``device("cuda")`` and the like stand for."""
    return _current.get(platform, 0)


def set_current_index(platform: str, index: int) -> None:
    """Change what `current_index` returns."""
    _current[platform] = index
    jax_device.cache_clear()


@functools.lru_cache(maxsize=None)
def jax_device(where: device) -> jax.Device:
    """The JAX device that a device names. Raises RuntimeError where the machine has none such."""
    platform = _PLATFORM.get(where.type)
    found = devices_of(platform)
    index = current_index(platform or "") if where.index is None or platform == "cpu" else where.index
    if index >= len(found):
        kinds = sorted({_NAME.get(d.platform, d.platform) for d in jax.devices()} | {"cpu"})
        raise NoChipError(f"device {where} is not there: JAX sees {len(jax.devices())} device(s), of kind {', '.join(kinds)}")
    return found[index]


@functools.lru_cache(maxsize=None)
def from_jax(found: jax.Device) -> device:
    """The device of a JAX device; the CPU has no index, as in PyTorch."""
    name = _NAME.get(found.platform, found.platform)
    return CPU if name == "cpu" else device(name, found.id)
