"""Where a file's storages go: the devices that they were saved from, or what ``map_location`` makes of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..devices import device
from ..errors import OpError
from ..storage import UntypedStorage

NO_DEVICE = (
    "load(): the file has storages that were saved from {0!r}, and there is no such device here ({1}). Use "
    "torch.load(..., map_location='cpu') to have them in the CPU's memory, or map_location with a device that is there."
)
UNKNOWN = "load(): don't know how to restore the data location of {} (tagged with {!r}); map_location='cpu' loads it all the same"
KINDS = ("cpu", "cuda", "tpu", "xla", "mps", "xpu", "meta")


class CallerError(Exception):
    """What a ``map_location`` function raised is this one's cause."""


MAP_LOCATION = Callable | device | str | dict | None

_packages: list[tuple[int, Callable, Callable]] = []


def register_package(priority: int, tagger: Callable[[Any], str | None], deserializer: Callable[[Any, str], Any | None]) -> None:
    """Teach `save` and `load` about places of storages.

    Args:
        priority: the lowest is asked first.
        tagger: names the place of a storage, or returns None for storages that it does not know.
        deserializer: moves a storage to the place of a name, or returns None for names that it does not know.
    """
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def location_tag(storage: Any) -> str:
    """What a file calls the place of a storage, "cpu" or "cuda:0". Raises RuntimeError if nobody knows."""
    for _, tagger, _ in _packages:
        location = tagger(storage)
        if location is not None:
            return location
    raise OpError(f"save(): don't know how to name the place of {type(storage).__name__}")


def default_restore_location(storage: Any, location: str) -> Any:
    """The storage at the place that a file names. Raises RuntimeError if it is not there."""
    for _, _, deserializer in _packages:
        restored = deserializer(storage, location)
        if restored is not None:
            return restored
    raise OpError(UNKNOWN.format(type(storage).__name__, location))


def _tag(storage: UntypedStorage) -> str:
    return str(storage.device)


def _restore(storage: UntypedStorage, location: str) -> UntypedStorage | None:
    kind = location.split(":", 1)[0]
    if kind not in KINDS:
        return None
    try:
        return storage.to(location)
    except (RuntimeError, NotImplementedError) as error:
        raise OpError(NO_DEVICE.format(location, error)) from None


register_package(10, _tag, _restore)


def restorer(map_location: Any) -> Callable[[Any, str], Any]:
    """The function ``(storage, location) -> storage at its place`` that a ``map_location`` stands for.

    Args:
        map_location: None, a device or its name, a dict from the file's names to names, or such a function itself; what
            that function returns None for goes where the file says.
    """
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, str(map_location.get(location, location)))
    if isinstance(map_location, (str, bytes)):
        name = map_location if isinstance(map_location, str) else map_location.decode("ascii")
        return lambda storage, location: default_restore_location(storage, name)
    if isinstance(map_location, device):
        return lambda storage, location: default_restore_location(storage, str(map_location))

    def restore(storage: Any, location: str) -> Any:
        try:
            mapped = map_location(storage, location)
        except Exception as error:  # the caller's own: `load` lets it out as it is
            raise CallerError from error
        return default_restore_location(storage, location) if mapped is None else mapped

    return restore
