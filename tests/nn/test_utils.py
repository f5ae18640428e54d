"""Gradient clipping, and parameters as one vector: against PyTorch."""

import pytest


def _with_gradients(kit, scale=1.0):
    parameters = [kit.P(kit.tensor(values)) for values in ([[1.0, -2.0]], [3.0], [0.5, 4.0])]
    for parameter in parameters[:2]:
        (parameter * parameter).sum().mul(scale).backward()
    return parameters


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("limit", [1.0, 100.0])
def test_norms_are_limited_as_in_torch(order, limit, alike):
    def run(kit):
        parameters = _with_gradients(kit)
        total = kit.nn.utils.clip_grad_norm_(parameters, limit, order)
        return total, [p.grad for p in parameters], kit.nn.utils.get_total_norm([p.detach() for p in parameters], order)

    alike(run)


def test_values_are_cut_off_as_in_torch(alike):
    def run(kit):
        parameters = _with_gradients(kit)
        kit.nn.utils.clip_grad_value_(iter(parameters), 2.5)
        kit.nn.utils.clip_grad_value_(parameters[0], 1.5)
        return [p.grad for p in parameters]

    alike(run)


def test_gradients_are_changed_in_place(kit):
    parameter = _with_gradients(kit)[0]
    grad = parameter.grad
    kit.nn.utils.clip_grad_norm_(parameter, 0.1)
    assert parameter.grad is grad and grad.norm().item() == pytest.approx(0.1, rel=1e-4)


def test_a_norm_that_is_not_finite_raises_if_asked(alike):
    alike(lambda kit: kit.nn.utils.clip_grad_norm_(_with_gradients(kit, float("inf")), 1.0, error_if_nonfinite=True))
    alike(lambda kit: kit.nn.utils.clip_grad_norm_(_with_gradients(kit, float("inf")), 1.0))


@pytest.mark.parametrize("order", ["fro", 2.0])
def test_only_floats_have_a_norm(order, alike):
    def wrong(kit):
        return kit.nn.utils.get_total_norm([kit.tensor([1, 2])] if order == 2.0 else [], order)

    alike(wrong, text=False)


def test_parameters_become_a_vector_and_back(alike):
    def run(kit):
        parameters = _with_gradients(kit)
        vector = kit.nn.utils.parameters_to_vector(parameters)
        kit.nn.utils.vector_to_parameters(vector * 2, parameters)
        return vector, parameters, [p.is_leaf for p in parameters]

    alike(run)


def test_a_vector_that_is_none_raises(alike):
    assert issubclass(alike(lambda kit: kit.nn.utils.vector_to_parameters([1.0], []), text=False), TypeError)
