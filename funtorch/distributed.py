"""``funtorch.distributed``: not there. It says so, as PyTorch's does where it was built without."""

__all__ = [
    "is_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched",
    "is_ucc_available", "is_xccl_available",
]  # fmt: skip


def is_available() -> bool:
    """False: there are no process groups."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


is_nccl_available = is_gloo_available = is_mpi_available = is_ucc_available = is_xccl_available = is_available
is_torchelastic_launched = is_initialized
