"""``funtorch.backends``: the switches of PyTorch's libraries. XLA takes their place, so most are kept and read back only.

``fp32_precision`` is that of ``torch.backends.cuda.matmul``.
"""

import sys
from types import ModuleType

from . import cpu, cuda, cudnn, cusparselt, kleidiai, mha, mkl, mkldnn, mps, nnpack, openmp, opt_einsum

__all__ = [
    "cpu", "cuda", "cudnn", "cusparselt", "kleidiai", "mha", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum",
]  # fmt: skip


def flags_frozen() -> bool:
    """False: every switch may be set."""
    return False


class _Switches(ModuleType):
    @property
    def fp32_precision(self) -> str:
        return cuda.matmul.fp32_precision

    @fp32_precision.setter
    def fp32_precision(self, value: str) -> None:
        cuda.matmul.fp32_precision = value


sys.modules[__name__].__class__ = _Switches
