"""``funtorch.onnx``: whether a model is being exported to ONNX. It never is."""

__all__ = ["is_in_onnx_export"]


def is_in_onnx_export() -> bool:
    """False."""
    return False
