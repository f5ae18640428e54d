"""Functions that PyTorch 1.9 took out: each raises, and says what stands in its place."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import OpError
from . import registry

INSTEAD = {
    "symeig": "torch.linalg.eigh, whose UPLO says which triangle is read (the lower one unless given)",
    "eig": "torch.linalg.eig, whose results are complex",
    "solve": "torch.linalg.solve, which takes the matrix first and gives no LU factors",
    "lstsq": "torch.linalg.lstsq, which takes the matrix first and gives the residuals apart",
    "matrix_rank": "torch.linalg.matrix_rank",
}


def _removed(name: str, instead: str) -> Any:
    def gone(*args: Any, **kwargs: Any) -> NoReturn:
        raise OpError(f"{name}(): This function was deprecated since version 1.9 and is now removed. Use {instead}.")

    gone.__name__ = gone.__qualname__ = name
    gone.__doc__ = f"Removed from PyTorch: use {instead}. Raises RuntimeError."
    return gone


for _name, _instead in INSTEAD.items():
    _gone = _removed(_name, _instead)
    registry.add("torch", _name, _gone)
    if _name != "matrix_rank":
        registry.add_method(_name, _gone)
