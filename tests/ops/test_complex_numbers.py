"""Complex numbers: views of their parts, making, conjugates, angles; gradients in PyTorch's convention."""

import numpy as np
import pytest

import funtorch as torch

Z = np.array([[1 + 2j, -0.5j], [3.0, -2 - 1j]])
X = np.array([[1.0, 2.0], [-3.0, 0.5]])


def test_parts_are_views_with_strides(agree):
    agree(lambda t, z: (t.real(z), z.imag, t.view_as_real(z), z.conj()), Z, strides=True)
    agree(lambda t, x: t.view_as_complex(x), X, strides=True)


def test_writing_a_part_writes_the_whole(agree):
    def write(t, z):
        z = z.clone()
        z.real.mul_(2)
        z.imag[0] = 7
        t.view_as_real(z)[1, 1, 0] = -1
        z.conj()[0, 0] = 1j
        return z

    agree(write, Z)


def test_assigning_a_part(agree):
    def assign(t, z):
        z = z.clone()
        z.real = t.zeros(2, 2, dtype=t.float64)
        z.imag = t.ones(2, 2, dtype=t.float64)
        return z

    agree(assign, Z, grad=False)


def test_real_input_is_handed_back(refuse):
    x = torch.tensor(X)
    assert torch.real(x) is x and x.conj() is x and x.resolve_conj() is x
    refuse(lambda t, x: t.imag(x), X)
    refuse(lambda t, x: t.view_as_real(x), X, words=False)


def test_conjugate_flags():
    z = torch.tensor(Z)
    assert z.conj().is_conj() and not z.conj().conj().is_conj() and not z.is_conj() and not z.conj().resolve_conj().is_conj()
    assert not z.is_neg()


def test_making_agrees(agree, refuse):
    agree(lambda t, x, y: (t.complex(x, y), t.polar(x.abs(), y)), X, X[::-1].copy())
    agree(lambda t, x: t.complex(x, x), X.astype(np.float32), grad=False)
    refuse(lambda t, x, y: t.complex(x, y), X, X.astype(np.float32), words=False)
    refuse(lambda t, x: t.complex(x, x), np.array([1, 2]), words=False)
    refuse(lambda t, x: t.view_as_complex(x), np.ones((2, 3)))


def test_angles_agree(agree):
    agree(lambda t, z: (z.angle(), z.abs()), Z)
    agree(lambda t, z: (z.angle(), z.abs(), z.sgn()), np.array([0j, 1 + 1j]))
    agree(lambda t, x: t.angle(x), np.array([-1.0, 0.0, 2.0, np.nan]), grad=False)
    agree(lambda t, x: t.angle(x), np.array([-1, 2]))


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "tanh", "reciprocal", "square", "conj_physical"])
def test_gradients_of_holomorphic_functions_agree(name, agree):
    agree(lambda t, z: getattr(t, name)(z), Z)


def test_reductions_of_complex_numbers_agree(agree):
    agree(lambda t, z: (z.sum(), z.mean(0), z.prod(), z.cumsum(1), z.cumprod(0), z.var(), z.norm()), Z)


def test_powers_agree(agree):
    agree(lambda t, z: (z**2, z**-1, z**0.5, z ** (1 + 1j), 2**z), Z + 1)
