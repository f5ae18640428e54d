"""The named tuples that ops with several results give: PyTorch's ``torch.return_types``."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

_FIELDS = {
    "aminmax": "min max",
    "cummax": "values indices",
    "cummin": "values indices",
    "frexp": "mantissa exponent",
    "geqrf": "a tau",
    "histogram": "hist bin_edges",
    "histogramdd": "hist bin_edges",
    "kthvalue": "values indices",
    "linalg_cholesky_ex": "L info",
    "linalg_eig": "eigenvalues eigenvectors",
    "linalg_eigh": "eigenvalues eigenvectors",
    "linalg_inv_ex": "inverse info",
    "linalg_ldl_factor": "LD pivots",
    "linalg_ldl_factor_ex": "LD pivots info",
    "linalg_lstsq": "solution residuals rank singular_values",
    "linalg_lu": "P L U",
    "linalg_lu_factor": "LU pivots",
    "linalg_lu_factor_ex": "LU pivots info",
    "linalg_qr": "Q R",
    "linalg_slogdet": "sign logabsdet",
    "linalg_solve_ex": "result info",
    "linalg_svd": "U S Vh",
    "lu_unpack": "P L U",
    "max": "values indices",
    "median": "values indices",
    "min": "values indices",
    "mode": "values indices",
    "nanmedian": "values indices",
    "qr": "Q R",
    "slogdet": "sign logabsdet",
    "sort": "values indices",
    "svd": "U S V",
    "topk": "values indices",
    "triangular_solve": "solution cloned_coefficient",
}
_MODULE = "funtorch.return_types"


def _text(self: Any) -> str:
    """The fields one a line, as PyTorch shows them."""
    fields = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"torch.return_types.{type(self).__name__}(\n" + ",\n".join(fields) + ")"


def _made(name: str, fields: str) -> type:
    base = namedtuple(name, fields.split(), module=_MODULE)  # type: ignore[misc]
    doc = f"What ``{name}`` gives: a named tuple of {', '.join(fields.split())}."

    def new(cls: Any, *values: Any, **named: Any) -> Any:
        if values and isinstance(values[0], (tuple, list)) and (len(values) == 1 or values[1:] == ({},)):
            values = tuple(values[0])  # as files have it, with fields that have no place in the tuple: none here
        return base.__new__(cls, *values, **named)

    def reduced(self: Any) -> tuple:
        return type(self), (tuple(self), {})

    return type(
        name,
        (base,),
        {"__slots__": (), "__new__": new, "__reduce__": reduced, "__repr__": _text, "__module__": _MODULE, "__doc__": doc},
    )


TYPES: dict[str, Any] = {name: _made(name, fields) for name, fields in _FIELDS.items()}

globals().update(TYPES)
__all__ = list(TYPES)  # noqa: PLE0605 - one name for each row of the table


def __getattr__(name: str) -> Any:
    """Tells type checkers that names come from the table; a name not in it is an error. Raises AttributeError."""
    raise AttributeError(f"torch.return_types has no {name!r}")
