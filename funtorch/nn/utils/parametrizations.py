"""Ready parametrizations: a length and a direction, the largest singular value 1, orthogonal columns."""

from __future__ import annotations

from typing import Any

from ...autograd.modes import no_grad
from ...errors import ArgumentValueError, MissingError, OutOfBoundsError
from ...numbers_info import finfo
from ...ops import registry
from ...tensor import Tensor
from .. import functional as F
from ..module import Module
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from . import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_torch = registry.names("torch")
_linalg = registry.names("linalg")
MAPS = ("matrix_exp", "cayley", "householder")
NO_INVERSE = (
    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when use_trivialization=False."
)


def _tensor_of(module: Module, name: str) -> Any:
    found = getattr(module, name, None)
    if not isinstance(found, Tensor):
        raise ArgumentValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return found


def outputs_dim(module: Module) -> int:
    """The dimension of a weight that counts the outputs."""
    return 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0


def as_matrix(weight: Any, dim: int) -> Any:
    """A weight with ``dim`` first and all others as one."""
    if dim != 0:
        weight = weight.permute(dim, *(d for d in range(weight.dim()) if d != dim))
    return weight.reshape(weight.shape[0], -1)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return _torch["_weight_norm"](weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        return _torch["norm_except_dim"](weight, 2, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Train a weight's lengths g and directions v instead of the weight: w = g v / |v|.

    Args:
        module: which has the weight.
        name: its name.
        dim: one length for each index along it; None: one for all.

    Returns:
        The module; g and v are ``parametrizations.<name>.original0`` and ``original1``.

    Example:
        >>> import funtorch
        >>> weight_norm(funtorch.nn.Linear(2, 3)).parametrizations.weight.original0.shape
        torch.Size([3, 1])

    Source: Salimans and Kingma, "Weight Normalization", 2016.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        # What the old `weight_norm` saved.
        keys = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in keys):
            for number, key in enumerate(keys):
                state_dict[f"{prefix}parametrizations.{name}.original{number}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        rank = weight.ndim
        if not -rank <= dim < rank:
            raise OutOfBoundsError(f"Dimension out of range (expected to be in range of [-{rank}, {rank - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ArgumentValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % rank
        self.eps = eps
        if rank > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            for name, size in zip(("_u", "_v"), matrix.shape, strict=True):
                self.register_buffer(name, self._unit(matrix.new_empty(size).normal_(0, 1)))
            self._power_method(matrix, 15)

    def _unit(self, x: Any) -> Any:
        return F.normalize(x, dim=0, eps=self.eps)

    def _power_method(self, matrix: Any, n_power_iterations: int) -> None:
        still = matrix.detach()  # u and v are constants in forward mode too, which heeds no no_grad
        with no_grad():
            for _ in range(n_power_iterations):
                self._u.copy_(self._unit(_torch["mv"](still, self._v)))
                self._v.copy_(self._unit(_torch["mv"](still.mH, self._u)))

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return self._unit(weight)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Copies: the next call changes these in place, and the gradient of this one still reads them.
        u, v = self._u.clone(), self._v.clone()
        return weight / _torch["vdot"](u, _torch["mv"](matrix, v))

    def right_inverse(self, value: Any) -> Any:
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight by its largest singular value, which a power iteration estimates.

    Args:
        module: which has the weight.
        name: its name.
        n_power_iterations: how many steps each access in training mode makes.
        eps: keeps lengths away from 0.
        dim: which counts the outputs; None: 0, or 1 for transposed convolutions.

    Raises:
        ValueError: no such weight, or no iterations.

    Source: Miyato et al., "Spectral Normalization for Generative Adversarial Networks", 2018.
    """
    weight = _tensor_of(module, name)
    made = _SpectralNorm(weight, n_power_iterations, outputs_dim(module) if dim is None else dim, eps)
    return parametrize.register_parametrization(module, name, made)


def _is_orthogonal(q: Any) -> bool:
    rows, columns = q.shape[-2:]
    eps = 10.0 * rows * finfo(q.dtype).eps
    return _torch["allclose"](q.mH @ q, _torch["eye"](columns, dtype=q.dtype), atol=eps)


def _make_orthogonal(a: Any) -> Any:
    """Q of a = Q R, where R's diagonal is positive."""
    x, tau = _torch["geqrf"](a)
    return _linalg["householder_product"](x, tau) * x.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    def __init__(self, weight: Any, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ArgumentValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Any) -> Any:
        wide = x.shape[-2] < x.shape[-1]
        x = x.mT if wide else x
        q = self._reflected(x) if self.orthogonal_map == "householder" else self._exponential(x)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _exponential(self, x: Any) -> Any:
        """The first columns of a map of the skew matrix that x's lower triangle makes."""
        n, k = x.shape[-2:]
        x = x.tril()
        if n != k:
            x = _torch["cat"]([x, x.new_zeros((*x.shape[:-2], n, n - k))], -1)
        a = x - x.mH
        if self.orthogonal_map == "matrix_exp":
            q = _torch["matrix_exp"](a)
        else:  # Cayley's map: (1 - a/2)^-1 (1 + a/2)
            one = _torch["eye"](n, dtype=a.dtype)
            q = _linalg["solve"](one - a * 0.5, one + a * 0.5)
        return q if n == k else q[..., :k]

    def _reflected(self, x: Any) -> Any:
        a = x.tril(diagonal=-1)
        q = _linalg["householder_product"](a, 2.0 / (1.0 + (a * a).sum(dim=-2)))
        # The diagonal holds signs, which aren't trained.
        return q * x.detach().diagonal(dim1=-2, dim2=-1).trunc().unsqueeze(-2)

    def right_inverse(self, q: Any) -> Any:
        if q.shape != self.shape:
            raise ArgumentValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}."
            )
        with no_grad():
            return self._based(q) if hasattr(self, "base") else self._reflectors(q)

    def _reflectors(self, q: Any) -> Any:
        if self.orthogonal_map != "householder":
            raise MissingError(NO_INVERSE)
        wide = q.shape[-2] < q.shape[-1]
        a, tau = _torch["geqrf"](q.mT if wide else q)
        signs = a.diagonal(dim1=-2, dim2=-1).sign()
        signs = _torch["where"](tau == 0.0, -signs, signs)  # LAPACK uses no reflection there
        made = _with_diagonal(a, signs)
        return made.mT if wide else made

    def _based(self, q: Any) -> Any:
        """Keep the matrix itself, completed to a square one, as what the map is applied to."""
        tall = q.mT if q.shape[-2] < q.shape[-1] else q
        n, k = tall.shape[-2:]
        if n != k:
            more = _torch["randn"](*tall.shape[:-2], n, n - k, dtype=q.dtype)
            self.base = _make_orthogonal(_torch["cat"]([tall, more], -1))
        else:
            self.base = tall.clone() if _is_orthogonal(tall) else _make_orthogonal(tall)
        # With minus the identity each of the three maps gives the identity.
        none = _torch["zeros_like"](q)
        return _with_diagonal(none, none.diagonal(dim1=-2, dim2=-1) - 1)


def _with_diagonal(x: Any, values: Any) -> Any:
    """Matrices with other values on the diagonal."""
    made = x.clone()
    made.diagonal(dim1=-2, dim2=-1).copy_(values)
    return made


def orthogonal(module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True) -> Any:
    """Keep the columns of a weight orthonormal (the rows, if there are fewer of them).

    Args:
        module: which has the weight.
        name: its name.
        orthogonal_map: "matrix_exp", "cayley" or "householder"; None: the first for square or complex weights, else the last.
        use_trivialization: apply the map at the matrix the weight is set to, and not at the identity.

    Raises:
        ValueError: no such weight, one of less than two dimensions, or another map.

    Source: Lezcano-Casado, "Trivializations for Gradient-Based Optimization on Manifolds", 2019.
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ArgumentValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in MAPS:
        raise ArgumentValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)
