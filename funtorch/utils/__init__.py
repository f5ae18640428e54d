"""``funtorch.utils``: data loading, hooks, checkpointing."""
