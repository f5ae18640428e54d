"""Tensors from outside: read, written, swapped, and their gradients."""

import numpy as np
from harness import Cases, Plan, batch, parameter, tensor

import funtorch

cases = Cases()


@cases(10)
def a_counter():
    count = funtorch.zeros(())

    def step(x):
        count.add_(1)
        return x * count

    return Plan(step, batch(2), {"count": count})


@cases(10)
def a_closure_read():
    w = parameter(3)
    return Plan(lambda x: (x * w).sum(), batch(3), {"w": w})


@cases(6)
def a_closure_tensor_rebound():
    w = tensor(1.0, 2.0)

    def between(i):
        nonlocal w
        if i == 5:
            w = tensor(5.0, 6.0)

    return Plan(lambda x: x * w, batch(2), {}, between)


@cases(4)
def a_closure_number_rebound():
    scale = 1.0

    def between(i):
        nonlocal scale
        scale = 2.0 if i >= 5 else 1.0

    return Plan(lambda x: x * scale, batch(2), {}, between)


@cases(10)
def a_cell_written_from_outside():
    w = tensor(1.0, 2.0)
    return Plan(lambda x: x * w, batch(2), {"w": w}, lambda i: w.mul_(1.5))


@cases(10)
def data_replaced_from_outside():
    w = parameter(2)

    def between(i):
        w.data = w.data * 2 + i

    return Plan(lambda x: (x * w).sum(), batch(2), {"w": w}, between)


@cases(4)
def a_cell_of_changing_shape():
    w = funtorch.ones(2)

    def between(i):
        w.data = funtorch.ones(2 + (i >= 5)) * i

    return Plan(lambda x: (x * w).sum(), lambda i: (tensor(1.0 * i),), {"w": w}, between)


@cases(4)
def a_cell_of_changing_dtype():
    w = funtorch.ones(2)

    def between(i):
        w.data = w.data.to(funtorch.float32 if i >= 5 else funtorch.float64)

    return Plan(lambda x: (x * w).sum(), batch(2), {"w": w}, between)


@cases(5)
def requires_grad_that_flips():
    w = parameter(2)

    def between(i):
        w.requires_grad_(i % 6 < 3)

    return Plan(lambda x: x * w, batch(2), {"w": w}, between)


@cases(10)
def a_masked_write_of_an_argument():
    def step(x):
        x[x < 0] = 0
        return x.sum()

    return Plan(step, batch(4))


@cases(10)
def a_masked_write_of_a_cell():
    w = funtorch.arange(6.0)

    def step(x):
        w[w < x.sum()] = 0
        w.add_(0.5)
        return w * 2

    return Plan(step, batch(3), {"w": w})


@cases(10)
def writes_by_index():
    table = funtorch.zeros(4)

    def step(x, k):
        table[k] = x.sum()
        table[1:3] += x[0]
        table.index_add_(0, funtorch.tensor([0, 3]), x)
        return table[k] * 1

    return Plan(step, lambda i: (*batch(2)(i), funtorch.tensor(i % 4)), {"table": table})


@cases(10)
def in_place_on_an_argument():
    return Plan(lambda x, y: x.mul_(2).add_(y), lambda i: (*batch(2)(i), *batch(2)(i + 40)))


@cases(10)
def swapped_values():
    a, b = tensor(1.0), tensor(2.0)

    def step():
        old = a.clone()
        a.copy_(b)
        b.copy_(old + 1)

    return Plan(step, lambda i: (), {"a": a, "b": b})


@cases(10)
def a_ring_buffer():
    buffer, place = funtorch.zeros(4, 2), funtorch.zeros((), dtype=funtorch.int64)

    def step(x):
        buffer[place] = x
        place.add_(1).remainder_(4)
        return buffer.mean(0)

    return Plan(step, batch(2), {"buffer": buffer, "place": place})


@cases(10)
def running_mean_and_variance():
    n, mean, m2 = funtorch.zeros(()), funtorch.zeros(2), funtorch.zeros(2)

    def step(x):
        n.add_(1)
        delta = x - mean
        mean.add_(delta / n)
        m2.add_(delta * (x - mean))
        return m2 / n

    return Plan(step, batch(2), {"n": n, "mean": mean, "m2": m2})


@cases(10)
def backward_into_a_parameter():
    w = parameter(3)

    def step(x):
        w.grad = None
        loss = (x * w).sin().sum()
        loss.backward()
        return loss

    return Plan(step, batch(3), {"w": w})


@cases(8)
def gradients_accumulate():
    w = parameter(3)

    def step(x):
        (x * w).sin().sum().backward()

    return Plan(step, batch(3), {"w": w})


@cases(6)
def gradients_cleared_every_third_call():
    w = parameter(3)

    def between(i):
        if i % 3 == 2:
            w.grad = None

    def step(x):
        loss = (x * w).sin().sum()
        loss.backward()
        return loss.detach()

    return Plan(step, batch(3), {"w": w}, between)


@cases(10)
def a_gradient_zeroed_in_place():
    w = parameter(3)
    w.grad = funtorch.ones(3)

    def step(x):
        w.grad.zero_()
        (x * w).sum().backward()
        return w.grad

    return Plan(step, batch(3), {"w": w})


@cases(10)
def a_gradient_assigned():
    w = parameter(3)

    def step(x):
        w.grad = (x * w).detach()
        return w.grad.sum()

    return Plan(step, batch(3), {"w": w})


@cases(10)
def an_argument_becomes_a_gradient():
    w = parameter(3)

    def step(x):
        w.grad = x
        return (w * x).sum().detach()

    return Plan(step, batch(3), {"w": w, "same": lambda: w.grad is not None})


@cases(10)
def a_gradient_that_is_returned():
    w = parameter(3)

    def step(x):
        w.grad = None
        (x * w).sum().backward()
        return w.grad

    return Plan(step, batch(3), {"w": w})


@cases(10)
def autograd_grad_of_cells():
    w = parameter(3)

    def step(x):
        (g,) = funtorch.autograd.grad((x * w).tanh().sum(), w)
        return g

    return Plan(step, batch(3), {"w": w})


@cases(10)
def second_derivatives():
    w = parameter(3)

    def step(x):
        (g,) = funtorch.autograd.grad((x * w).tanh().sum(), w, create_graph=True)
        w.grad = None
        (g * g).sum().backward()
        return g.detach()

    return Plan(step, batch(3), {"w": w})


@cases(6)
def gradients_outside_of_the_compiled_function():
    w = parameter(3)
    x = parameter(3, seed=1)

    def between(i):
        w.grad = x.grad = None

    def step(k):
        return (x * w * k).tanh().sum()

    plan = Plan(step, lambda i: (tensor(1.0 + i),), {"w": w, "x": x}, between)
    return plan


@cases(10)
def tied_weights():
    w = parameter(2, 2)

    def step(x):
        w.grad = None
        (x @ w @ w.T).sum().backward()
        with funtorch.no_grad():
            w.sub_(0.1 * w.grad)

    return Plan(step, batch(1, 2), {"w": w})


@cases(10)
def a_list_of_cells():
    ws = [parameter(2, seed=k) for k in range(3)]

    def step(x):
        for w in ws:
            w.grad = None
        sum((w * x).sum() ** 2 for w in ws).backward()
        with funtorch.no_grad():
            for w in ws:
                w -= 0.1 * w.grad

    return Plan(step, batch(2), {f"w{k}": w for k, w in enumerate(ws)})


@cases(4)
def an_element_of_a_list_replaced():
    ws = [tensor(1.0), tensor(2.0)]

    def between(i):
        if i == 5:
            ws[1] = tensor(7.0)

    return Plan(lambda x: x * ws[0] + ws[1], batch(1), {}, between)


@cases(4)
def an_entry_of_a_dict_replaced():
    table = {"scale": 2.0, "shift": tensor(1.0)}

    def between(i):
        if i == 5:
            table["scale"] = 3.0

    return Plan(lambda x: x * table["scale"] + table["shift"], batch(1), {}, between)


@cases(10)
def numpy_cells_survive_donation():
    array = np.arange(3.0)
    w = funtorch.from_numpy(array)
    kept = []

    def between(i):
        kept.append(w.numpy())

    def step(x):
        w.add_(x)
        return w.sum()

    return Plan(step, batch(3), {"w": w, "kept": lambda: [k.tolist() for k in kept], "array": lambda: array.tolist()}, between)


@cases(10)
def kept_outputs_of_earlier_calls():
    w, kept = tensor(1.0, 2.0), []

    def step(x):
        w.mul_(1.1)
        return w * x, w.clone()

    plan = Plan(lambda x: step(x), batch(2), {"w": w, "kept": lambda: [k.tolist() for k in kept]})
    plan.between = lambda i: kept.append(w.detach().clone()) or (kept.append(w.detach()) if i % 2 else None)
    return plan


@cases(eager="in Python objects outside of it")
def tensors_kept_in_a_list():
    kept = []

    def step(x):
        kept.append(x * 2)
        return kept[-1].sum()

    return Plan(step, batch(2), {"kept": lambda: [k.tolist() for k in kept]})


@cases(eager="has changed|is another at each call")
def a_python_counter():
    calls = {"n": 0}

    def step(x):
        calls["n"] += 1
        return x * calls["n"]

    return Plan(step, batch(2), {"calls": lambda: dict(calls)})


@cases(eager="changes a list or dict that is its argument")
def an_argument_list_that_grows():
    def step(xs):
        xs.append(xs[0] * 2)
        return sum(xs)

    return Plan(step, lambda i: ([*batch(2)(i)],))


test_state = cases.test
