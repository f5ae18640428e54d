"""What PyTorch took out, functions above all: each raises, and says what stands in its place."""

from __future__ import annotations

from typing import Any, NoReturn

from ..cautions import caution
from ..errors import OpError
from ..tensor import Tensor
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


NO_REINFORCE = (
    "reinforce() was removed. Use torch.distributions instead: the gradient of -(Categorical(probs).log_prob(action) * reward).sum() "
    "is that of REINFORCE."
)


def _reinforce(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Removed from PyTorch: use torch.distributions. Raises RuntimeError."""
    raise OpError(NO_REINFORCE)


def _volatile(self: Any) -> bool:
    caution("volatile was removed (Variable.volatile is always False)")
    return False


registry.add_method("reinforce", _reinforce)
Tensor.volatile = property(_volatile)  # type: ignore[attr-defined]
for _name, _instead in INSTEAD.items():
    _gone = _removed(_name, _instead)
    registry.add("torch", _name, _gone)
    if _name != "matrix_rank":
        registry.add_method(_name, _gone)
