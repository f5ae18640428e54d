"""Memory shared with NumPy: the same scripts of reads and writes, through arrays, Tensors and views, in PyTorch and here."""

import random

import numpy as np
import pytest
import torch

import funtorch


class Script:
    """A random program over one array and the Tensors that share it; each step ends with all values."""

    def __init__(self, lib, seed):
        self.lib = lib
        self.draw = random.Random(seed)
        array = np.arange(12, dtype=np.float32).reshape(3, 4)
        self.tensors = [lib.from_numpy(self.laid(array))]
        self.arrays = [array]
        own = lib.ones(3, 4)
        self.tensors.append(own)
        self.others = []  # results, which share nothing

    def laid(self, array):
        return self.draw.choice([array, array.T, array[:, ::2], array[1:, 1:3], array[2]])

    def steps(self, count):
        for _ in range(count):
            name = self.draw.choice(
                ["view"] * 3 + ["to_numpy"] * 3 + ["write_array"] * 5 + ["write_tensor"] * 5 + ["read"] * 2 + ["detach"]
                + ["forget_array", "forget_tensor", "assign"]
            )  # fmt: skip
            getattr(self, name)()
            yield name, self.values()

    def values(self):
        # Some Tensors are left unread, so that they are behind when they are written.
        read = [t for t in self.tensors if self.draw.random() < 0.6]
        return [np.array(a) for a in self.arrays], [t.tolist() for t in read], [t.tolist() for t in self.others[-3:]]

    def tensor(self):
        return self.draw.choice(self.tensors)

    def view(self):
        x, kind = self.tensor(), self.draw.randrange(6)
        made = (
            x[0] if kind == 0 and x.dim() else x.t() if kind == 1 and x.dim() == 2 else x[..., 1:] if kind == 2 and x.dim()
            else x.unsqueeze(0) if kind == 3 and x.dim() < 3 else x.flatten() if kind == 4 and x.is_contiguous() else x[...]
        )  # fmt: skip
        self.tensors.append(made)

    def detach(self):
        x = self.tensor()
        self.tensors.append(x.detach() if self.draw.random() < 0.5 else x.data)

    def to_numpy(self):
        self.arrays.append(self.tensor().numpy())

    def write_array(self):
        array = self.draw.choice(self.arrays) if self.arrays else np.zeros(2)
        if array.size:
            array.reshape(array.shape)[tuple(self.draw.randrange(n) for n in array.shape)] = self.draw.randrange(100)

    def write_tensor(self):
        x, kind, number = self.tensor(), self.draw.randrange(6), self.draw.randrange(9)
        if kind == 0:
            x.add_(number)
        elif kind == 1:
            x.fill_(number)
        elif kind == 2:
            x.copy_(self.lib.arange(x.numel(), dtype=self.lib.float32).reshape(x.shape) * number)
        elif kind == 3 and x.numel():
            x[tuple(self.draw.randrange(n) for n in x.shape)] = number
        elif kind == 4 and x.dim():
            x[self.lib.tensor([0] * min(1, x.shape[0]), dtype=self.lib.int64)] = float(number)
        else:
            x[x > 5] = number

    def assign(self):
        x, y = self.tensor(), self.tensor()
        x[...] = y.sum()

    def read(self):
        x, kind = self.tensor(), self.draw.randrange(4)
        if kind == 0 or not x.dim() or not x.shape[0]:
            self.others.append(x * 2)
        elif kind == 1:
            self.others.append(x[self.lib.tensor([x.shape[0] - 1, 0])])
        elif kind == 2:
            self.others.append(x.index_select(0, self.lib.tensor([0, x.shape[0] - 1, 0])))
        else:
            self.others.append(x[x > 3])

    def forget_array(self):
        if len(self.arrays) > 1:
            self.arrays.pop(self.draw.randrange(len(self.arrays)))

    def forget_tensor(self):
        if len(self.tensors) > 2:
            self.tensors.pop(self.draw.randrange(len(self.tensors)))


@pytest.mark.parametrize("seed", range(60))
def test_random_scripts(seed):
    pairs = zip(Script(torch, seed).steps(40), Script(funtorch, seed).steps(40), strict=True)
    for number, ((name, want), (_, found)) in enumerate(pairs):
        for kind, a, b in zip(("arrays", "tensors", "results"), want, found, strict=True):
            assert len(a) == len(b)
            for x, y in zip(a, b, strict=True):
                np.testing.assert_array_equal(x, y, err_msg=f"{kind} after step {number}, {name}")
