"""Initialisation of parameters, in place and without history. Draws are PyTorch's, in its order."""
