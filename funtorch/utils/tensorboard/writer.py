"""SummaryWriter: tensorboardX's, given NumPy arrays in place of Tensors. It is imported when a writer is made."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import MissingError
from ...tensor import Tensor

__all__ = ["SummaryWriter"]

_NOT_INSTALLED = "SummaryWriter(): the package tensorboardX is not installed; do `pip install tensorboardX`"
_NO_GRAPH = (
    "SummaryWriter.add_graph(): there is no graph of a model to draw; funtorch.compiler.explain(f) tells what was compiled"
)


class SummaryWriter:
    """Writes scalars, images, histograms and more to a file that TensorBoard shows.

    The methods are tensorboardX's, named as PyTorch's: ``add_scalar``, ``add_scalars``, ``add_histogram``, ``add_image``,
    ``add_images``, ``add_figure``, ``add_video``, ``add_audio``, ``add_text``, ``add_embedding``, ``add_pr_curve``,
    ``add_mesh``, ``add_custom_scalars``, ``flush``, ``close``, ``get_logdir``. Tensors may stand wherever values do.

    Args:
        log_dir: the folder; ``runs/<time>_<host><comment>`` where None.
        comment: the end of that name.
        purge_step: events from this step on, of an earlier run that broke off, are hidden.
        max_queue: events that wait before they are written.
        flush_secs: seconds after which they are written at the latest.
        filename_suffix: the end of the file's name.

    Differs from PyTorch: ``add_graph`` is not there.

    Raises:
        ImportError: the package tensorboardX is not installed.

    Example:
        >>> with SummaryWriter("runs/one") as writer:           # doctest: +SKIP
        ...     writer.add_scalar("loss", torch.tensor(0.5), 1)
    """

    def __init__(
        self,
        log_dir: str | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        try:
            package = importlib.import_module("tensorboardX")
        except ImportError as error:
            raise ImportError(_NOT_INSTALLED) from error
        self.log_dir = None if log_dir is None else str(log_dir)
        self._writer = package.SummaryWriter(self.log_dir, comment, purge_step, max_queue, flush_secs, filename_suffix)
        self.log_dir = self._writer.logdir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """One number at a step. ``new_style`` and ``double_precision`` are accepted, without effect."""
        self._writer.add_scalar(tag, _as_numpy(scalar_value), _as_number(global_step), walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list] | None = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Hyperparameters and what they led to. ``hparam_domain_discrete`` is accepted, without effect."""
        self._writer.add_hparams(_as_plain(hparam_dict), _as_plain(metric_dict), run_name, _as_number(global_step))

    def add_graph(self, *args: Any) -> None:
        """Not there. Raises NotImplementedError."""
        raise MissingError(_NO_GRAPH)

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self._writer.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._writer, name)
        return _given_numpy(found) if callable(found) else found


def _given_numpy(method: Callable) -> Callable:
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        return method(*map(_as_numpy, args), **{name: _as_numpy(value) for name, value in kwargs.items()})

    return call


def _as_numpy(value: Any) -> Any:
    """A Tensor as an array, also inside of dicts, lists and tuples; dtypes that NumPy lacks as float32."""
    if isinstance(value, Tensor):
        array = value.detach().numpy()
        return array if array.dtype.kind in "biufc" else array.astype(np.float32)
    if isinstance(value, dict):
        return {key: _as_numpy(entry) for key, entry in value.items()}
    return type(value)(map(_as_numpy, value)) if type(value) in (list, tuple) else value


def _as_number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def _as_plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _as_number(value) for name, value in values.items()}
