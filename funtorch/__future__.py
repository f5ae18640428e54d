"""Settings of how modules are converted: here a parameter is the same object before and after, whatever they say."""

from __future__ import annotations

from .errors import MissingError

_settings = {"swap": False}


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Note whether conversions are to keep parameters' identity by `utils.swap_tensors`: they keep it in any case."""
    _settings["swap"] = bool(value)


def get_swap_module_params_on_conversion() -> bool:
    """What `set_swap_module_params_on_conversion` was told."""
    return _settings["swap"]


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Accept False. Raises NotImplementedError for True: conversions never make new parameters."""
    if value:
        raise MissingError(
            "set_overwrite_module_params_on_conversion(True) is not in funtorch: a converted parameter stays the same object"
        )


def get_overwrite_module_params_on_conversion() -> bool:
    """False."""
    return False
