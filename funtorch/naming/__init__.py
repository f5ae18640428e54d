"""PyTorch's public names: each resolves, and one that funtorch has nothing for says so when it is used."""
