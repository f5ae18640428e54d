"""The version of funtorch, and of what PyTorch's builds carry: no CUDA or ROCm of its own (JAX brings them)."""

__version__ = "0.1.0"
cuda = None
hip = None
xpu = None
debug = False
git_version = "unknown"
