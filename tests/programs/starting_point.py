"""What the programs share: equal starting weights in both frameworks, and results as NumPy arrays."""

import numpy as np


def draw(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """A start for the parameter ``name``: scales near one for norms, else a normal over root fan-in."""
    if len(shape) == 1 and name.endswith("weight"):
        return rng.uniform(0.5, 1.5, shape)
    fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 4
    return rng.normal(size=shape) / np.sqrt(fan_in)


def fill(torch, module, rng: np.random.Generator):
    """``module`` with each parameter overwritten by ``draw``, in the order of ``named_parameters``."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(torch.from_numpy(np.asarray(draw(rng, name, tuple(parameter.shape)))))
    return module


def leaf(torch, array: np.ndarray):
    """A float64 tensor of ``array`` that requires grad."""
    return torch.tensor(array, dtype=torch.float64, requires_grad=True)


def arrays(named_tensors) -> dict[str, np.ndarray]:
    """NumPy copies of ``(name, tensor)`` pairs, such as ``module.named_parameters()``."""
    return {name: tensor.detach().numpy().copy() for name, tensor in named_tensors}
