"""Functions of values: no state, all kinds of arguments and results."""

import math

import numpy as np
from harness import Cases, Plan, batch, tensor

import funtorch

cases = Cases()


@cases(10)
def one_liner():
    return Plan(lambda x: x * 2 + 1, batch(3))


@cases(10)
def several_results():
    return Plan(lambda x: (x.sum(), {"mean": x.mean(), "max": x.max(0)}, [x.argmax()]), batch(3))


@cases(10)
def no_tensor_arguments():
    return Plan(lambda: funtorch.arange(4.0) * 3, lambda i: ())


@cases(10)
def constants_in_results():
    return Plan(lambda x: (x + 1, 3, "name", None, x.shape), batch(2))


@cases(6)
def shapes_that_change():
    return Plan(lambda x: x.sum(-1) * x.shape[0], lambda i: (funtorch.ones(1 + i % 3, 2) * i,))


@cases(6)
def dtypes_that_change():
    kinds = (funtorch.float32, funtorch.int64, funtorch.float64)
    return Plan(lambda x: x * 2 + x.sum(), lambda i: (funtorch.full((2,), i, dtype=kinds[i % 3]),))


@cases(6)
def a_flag_that_flips():
    return Plan(lambda x, double: x * 2 if double else x - 1, lambda i: (*batch(2)(i), i % 2 == 0))


@cases(6)
def a_mode_by_name():
    return Plan(lambda x, how: getattr(x, how)(), lambda i: (*batch(2)(i), ("sum", "mean", "exp")[i % 3]))


@cases(6)
def keyword_arguments():
    return Plan(lambda x, *, scale=1.0, shift=None: x * scale if shift is None else x * scale + shift, batch(2),
                kwargs=lambda i: {"scale": float(i % 2)} if i % 3 else {"shift": tensor(1.0 * i)})  # fmt: skip


@cases(10)
def a_list_of_tensors():
    return Plan(lambda xs: sum(xs) * len(xs), lambda i: ([*batch(2)(i), *batch(2)(i + 50)],))


@cases(6)
def lists_of_changing_length():
    return Plan(lambda xs: funtorch.stack(xs).sum(0), lambda i: ([tensor(1.0 * k, i) for k in range(1 + i % 2)],))


@cases(10)
def a_dict_of_tensors():
    return Plan(lambda d: {k: v * 2 for k, v in d.items()}, lambda i: ({"b": tensor(1.0, i), "a": tensor(2.0)},))


@cases(6)
def dicts_with_changing_keys():
    return Plan(lambda d: sum(d.values()), lambda i: ({("a", "b")[i % 2]: tensor(1.0 * i), "c": tensor(2.0)},))


@cases(10)
def starred_arguments():
    return Plan(
        lambda *xs, **named: (sum(xs), named["k"] * 2),
        lambda i: (tensor(1.0), tensor(i * 1.0)),
        kwargs=lambda i: {"k": tensor(3.0 + i)},
    )


@cases(10)
def python_numbers_from_shapes():
    return Plan(lambda x: x / math.sqrt(x.numel()) + len(x) + x.dim(), batch(3, 2))


@cases(10)
def integers_and_bools():
    return Plan(lambda x: ((x % 3 == 0) & (x > 1), x // 2, x << 1, ~x), lambda i: (funtorch.arange(6) + i,))


@cases(10)
def complex_numbers():
    return Plan(lambda x: (funtorch.view_as_real(funtorch.fft.fft(x)), x.abs()), batch(4))


@cases(10)
def type_promotion():
    return Plan(lambda x, n: (x + n, n * 1.5, n / 2, x.float() + n), lambda i: (tensor(1.5, i), funtorch.tensor(i)))


@cases(10)
def numpy_array_that_stays():
    table = np.arange(3.0)
    return Plan(lambda x: x * funtorch.from_numpy(table), batch(3))


@cases(6)
def numpy_array_as_argument():
    return Plan(lambda x, a: x * funtorch.from_numpy(a), lambda i: (*batch(3)(i), np.arange(3.0) + i % 2))


@cases(10)
def sorting_and_searching():
    return Plan(lambda x: (x.sort(), x.topk(2), x.argsort(), funtorch.searchsorted(x.sort()[0], x)), batch(5))


@cases(10)
def linear_algebra():
    return Plan(lambda x: (x @ x.T, funtorch.linalg.inv(x @ x.T + funtorch.eye(3)), funtorch.linalg.det(x)), batch(3, 3))


@cases(10)
def einsum_and_gather():
    index = funtorch.tensor([[0, 2], [1, 1]])
    return Plan(lambda x: (funtorch.einsum("ij,kj->ik", x, x), x.gather(1, index), x[:, index]), batch(2, 3))


@cases(10)
def nothing_returned():
    return Plan(lambda x: None, batch(2))


@cases(10)
def empty_tensors():
    return Plan(lambda x: (x.sum(), funtorch.cat([x, x])), lambda i: (funtorch.zeros(0, 3),))


@cases(10)
def nan_and_infinity():
    return Plan(lambda x: (x / 0, funtorch.nan_to_num(x / 0), x.isnan()), lambda i: (tensor(0.0, 1.0, -1.0 * i),))


test_values = cases.test
