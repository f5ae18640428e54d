"""Python's decisions on values: branches, loops, early exits, sizes that depend on data."""

from harness import Cases, Plan, batch, parameter, tensor

import funtorch

cases = Cases()


def numbers(*values):
    return lambda i: (tensor(*values)[i % len(values)].clone(),)


@cases(6)
def if_positive():
    return Plan(lambda x: x * 2 if x > 0 else x - 1, numbers(1.0, -1.0, 2.0, -2.0))


@cases(6)
def if_sum_is_large():
    def step(x):
        if x.sum() > 1:
            return x * 2
        return x - 1

    return Plan(step, lambda i: (tensor(0.5, 1.0 * (i % 2)),))


@cases(4)
def while_above():
    def step(x):
        n = 0
        while (x.abs() > 0.1).any():
            x, n = x / 2, n + 1
        return x, n

    return Plan(step, numbers(0.5, 0.4, 3.0, 0.3, 2.9, 0.05))


@cases(5)
def newton_until_close():
    def step(a):
        x = a / 2 + 1
        while (x * x - a).abs() > 1e-6:
            x = (x + a / x) / 2
        return x

    return Plan(step, numbers(2.0, 2.1, 2.05, 90.0, 91.0, 2.02))


@cases(6)
def early_exit():
    def step(x, limit):
        total = funtorch.zeros(())
        for k in range(5):
            total = total + x * k
            if total > limit:
                return total, k
        return total, -1

    return Plan(step, lambda i: (tensor(1.0)[0] * (1 + i % 3), tensor(4.0)[0]))


@cases(6)
def item_in_a_condition():
    return Plan(lambda x: x * 2 if x.item() > 0 and x.item() < 5 else -x, numbers(1.0, -1.0, 1.0, 1.0, -1.0, 1.0))


@cases(4)
def nested_branches():
    def step(x, y):
        if x > 0:
            return x + y if y > 0 else x - y
        return x * y if y > 0 else x / y

    return Plan(step, lambda i: (tensor(1.0 if i % 2 else -1.0), tensor(1.0 if i % 3 else -2.0)))


@cases(6)
def and_or_not():
    return Plan(lambda x, y: (x and y) + (not x) if y else (x or y), lambda i: (tensor(1.0 * (i % 2)), tensor(1.0 + i % 2)))


@cases(6)
def chained_comparison():
    return Plan(lambda x: x if 0 < x < 2 else x.clamp(0.0, 2.0), numbers(1.0, 3.0, -1.0))


@cases(6)
def an_index_from_a_tensor():
    return Plan(lambda x, k: x[int(k)] * 2, lambda i: (*batch(3)(i), funtorch.tensor(i % 2)))


@cases(10)
def a_tensor_as_index():
    return Plan(lambda x, k: x[k] * 2, lambda i: (*batch(3)(i), funtorch.tensor(i % 3)))


@cases(6)
def range_of_a_tensor():
    def step(x, n):
        for k in range(n):
            x = x * 2 + k
        return x

    return Plan(step, lambda i: (*batch(2)(i), funtorch.tensor(1 + i % 2)))


@cases(5)
def masked_select_by_size():
    return Plan(lambda x: (x[x > 0].sum(), len(x[x > 0])), lambda i: (tensor(1.0, -1.0, 1.0 - 2 * (i % 2), i + 1.0),))


@cases(5)
def nonzero_by_size():
    return Plan(lambda x: x.nonzero() * 2, lambda i: (tensor(1.0, 0.0, i % 2, 0.0),))


@cases(6)
def max_of_python():
    return Plan(lambda x, y: max(x, y) * 2, lambda i: (tensor(1.0 * i)[0], tensor(3.0)[0]))


@cases(6)
def tolist_of_flags():
    def step(x, flags):
        return sum(x[k] for k, on in enumerate(flags.tolist()) if on)

    return Plan(step, lambda i: (*batch(3)(i), funtorch.tensor([True, i % 2 == 0, False])))


@cases(6)
def isnan_check():
    def step(x):
        if x.isnan().any():
            raise ValueError("not a number")
        return x + 1

    return Plan(step, lambda i: (tensor(1.0, float("nan") if i % 6 == 3 else i),))


@cases(6)
def all_and_equal():
    return Plan(lambda x, y: x * 2 if funtorch.equal(x, y) else x - y, lambda i: (tensor(1.0 * (i % 2)), tensor(1.0)))


@cases(6)
def allclose_stops():
    def step(x):
        for _ in range(8):
            new = x.cos()
            if funtorch.allclose(new, x, atol=0.5):
                break
            x = new
        return x

    return Plan(step, lambda i: (tensor(0.1 + 0.01 * i, 2.0 * (i % 2)),))


@cases(6)
def decision_on_a_parameter():
    w = parameter(2)

    def step(x):
        scale = 2.0 if w.norm() > 1.5 else 0.5
        return (x * w * scale).sum()

    def between(i):
        with funtorch.no_grad():
            w.fill_(0.5 + i % 2)

    return Plan(step, batch(2), {"w": w}, between)


@cases(6)
def improvement_kept_in_a_cell():
    best = tensor(1e9)

    def step(loss):
        if loss < best:
            best.copy_(loss)
            return best * 1, True
        return loss, False

    return Plan(step, lambda i: (tensor((5.0, 4.0, 6.0, 3.0, 7.0, 2.0)[i % 6]),), {"best": best})


@cases(eager="no two calls took the same path")
def a_value_as_a_number_each_call():
    return Plan(lambda x: x * x.sum().item(), batch(2))


test_branches = cases.test
