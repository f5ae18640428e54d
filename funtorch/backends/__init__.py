"""``funtorch.backends``: the switches of PyTorch's libraries. XLA takes their place, so most are kept and read back only."""

from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
