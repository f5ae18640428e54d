"""The version of funtorch."""

__version__ = "0.1.0"
