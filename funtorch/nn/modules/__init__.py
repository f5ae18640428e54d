"""The layers, a file for each family."""
