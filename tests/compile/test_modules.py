"""Modules: modes, hooks, buffers, attributes, methods, rebuilt models, and the Module-like object that compile gives."""

import copy

import pytest
from harness import Cases, Plan, batch, check, labelled, net, tensor

import funtorch
from funtorch import nn

cases = Cases()
FACTOR = 2.0


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = 1.0
        self.p = nn.Parameter(funtorch.ones(2))
        self.register_buffer("seen", funtorch.zeros(()))

    def forward(self, x, times=1):
        self.seen.add_(1)
        for _ in range(times):
            x = x * self.p * self.gain * FACTOR
        return x


@cases(10)
def a_module_called():
    model = net()
    return Plan(lambda x: model(x), batch(4, 3), {"model": model})


@cases(10)
def a_module_as_argument():
    model = net()
    return Plan(lambda m, x: m(x).sum(), lambda i: (model, *batch(4, 3)(i)), {"model": model})


@cases(8)
def two_modules_as_argument():
    models = [net(seed=1), net(seed=2)]
    return Plan(lambda m, x: m(x), lambda i: (models[i % 2], *batch(4, 3)(i)), {})


@cases(6)
def training_flag_flipped():
    model = net(norm=True, drop=0.3)
    return Plan(lambda x: model(x).sum(), batch(4, 3), {"model": model}, lambda i: model.train(i % 3 != 1))


@cases(6)
def a_part_in_another_mode():
    model = net(norm=True)
    return Plan(lambda x: model(x), batch(4, 3), {"model": model}, lambda i: model[1].train(i % 2 == 0))


@cases(10)
def modes_set_inside():
    model = net(norm=True, drop=0.3)

    def step(x):
        model.eval()
        with funtorch.no_grad():
            a = model(x)
        model.train()
        return a, model(x)

    return Plan(step, batch(4, 3), {"model": model})


@cases(10)
def buffers_written():
    model = Scaled()
    return Plan(lambda x: model(x), batch(2), {"model": model})


@cases(4)
def an_attribute_changed():
    model = Scaled()

    def between(i):
        model.gain = 3.0 if i >= 5 else 1.0

    return Plan(lambda x: model(x), batch(2), {"model": model}, between)


@cases(5)
def an_argument_of_forward():
    model = Scaled()
    return Plan(lambda x, n: model(x, times=n), lambda i: (*batch(2)(i), 1 + i % 2), {"model": model})


@cases(4)
def a_global_that_its_code_names():
    model = Scaled()

    def between(i):
        globals()["FACTOR"] = 5.0 if 5 <= i < 11 else 2.0

    return Plan(lambda x: model(x), batch(2), {"model": model}, between)


@cases(5)
def a_parameter_replaced():
    model = Scaled()

    def between(i):
        if i == 5:
            model.p = nn.Parameter(funtorch.full((2,), 7.0))

    return Plan(lambda x: model(x), batch(2), {"model": model}, between)


@cases(5)
def a_child_replaced():
    model = net()

    def between(i):
        if i == 5:
            model[1] = nn.ReLU()

    return Plan(lambda x: model(x), batch(4, 3), {"model": model}, between)


@cases(5)
def a_forward_hook_added_and_removed():
    model, handles = net(), []

    def between(i):
        if i == 3:
            handles.append(model[0].register_forward_hook(lambda m, args, out: out * 2))
        if i == 8:
            handles.pop().remove()

    return Plan(lambda x: model(x), batch(4, 3), {"model": model}, between)


@cases(10)
def hooks_that_stay():
    model = net()
    model[0].register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    model[1].register_forward_hook(lambda m, args, out: out + 1)
    return Plan(lambda x: model(x), batch(4, 3), {"model": model})


@cases(8)
def backward_hooks():
    model = net()
    model[3].register_full_backward_hook(lambda m, gi, go: tuple(g * 2 for g in gi))

    def step(x):
        model.zero_grad()
        model(x).sum().backward()

    return Plan(step, batch(4, 3), {"model": model})


@cases(8)
def hooks_on_parameters():
    model = net()
    model[0].weight.register_hook(lambda g: g.clamp(-0.1, 0.1))

    def step(x):
        model.zero_grad()
        model(x).pow(2).sum().backward()

    return Plan(step, batch(4, 3), {"model": model})


@cases(4)
def a_hook_on_a_parameter_added():
    model = net()

    def between(i):
        if i == 5:
            model[0].weight.register_hook(lambda g: g * 0)

    def step(x):
        model.zero_grad()
        model(x).pow(2).sum().backward()

    return Plan(step, batch(4, 3), {"model": model}, between)


@cases(10)
def hooks_on_results_inside():
    w = tensor(0.5, 1.5).requires_grad_()

    def step(x):
        w.grad = None
        h = w * x
        h.register_hook(lambda g: g * 2)
        h.retain_grad()
        h.sin().sum().backward()
        return h.grad

    return Plan(step, batch(2), {"w": w})


@cases(8)
def a_bound_method():
    class Trainer:
        def __init__(self):
            self.model, self.scale = net(), 2.0

        def loss(self, x, y):
            return nn.functional.cross_entropy(self.model(x), y) * self.scale

    trainer = Trainer()

    def between(i):
        trainer.scale = 3.0 if i >= 5 else 2.0

    return Plan(trainer.loss, labelled(), {"model": trainer.model}, between)


@cases(4)
def settings_in_objects_of_objects():
    class Options:
        pass

    options = Options()
    options.inner = Options()
    options.inner.scale = 1.0

    def between(i):
        options.inner.scale = 4.0 if i >= 5 else 1.0

    return Plan(lambda x: x * options.inner.scale, batch(2), {}, between)


@cases(4)
def an_object_as_argument():
    class Options:
        scale = 1.0

    options = Options()

    def between(i):
        options.scale = 4.0 if i >= 5 else 1.0

    return Plan(lambda o, x: x * o.scale, lambda i: (options, *batch(2)(i)), {}, between)


@cases(10)
def functional_call_inside():
    model = net()
    changed = {k: v.detach() * 2 for k, v in model.named_parameters()}
    return Plan(lambda x: funtorch.func.functional_call(model, changed, (x,)), batch(4, 3), {"model": model})


@cases(10)
def a_module_list_and_dict():
    parts = nn.ModuleDict({"a": nn.ModuleList([nn.Linear(3, 3), nn.Tanh()]), "b": nn.LayerNorm(3)})

    def step(x):
        for layer in parts["a"]:
            x = layer(x)
        return parts["b"](x)

    return Plan(step, batch(4, 3), {"parts": parts})


@cases(10)
def the_module_itself():
    model = net(norm=True)
    return Plan(model, batch(4, 3), {"model": model})


@cases(8)
def spectral_and_weight_norm():
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    return Plan(lambda x: layer(x), batch(4, 3), {"layer": layer})


def test_a_method_on_two_instances():
    class Model:
        def __init__(self, scale):
            self.scale, self.w = scale, funtorch.full((2,), scale)

        @funtorch.compile
        def __call__(self, x):
            self.w.add_(1)
            return x * self.w * self.scale

    class Plainly(Model):
        def __call__(self, x):
            self.w.add_(1)
            return x * self.w * self.scale

    pairs = [(Model(k), Plainly(k)) for k in (1.0, 2.0)]
    for i in range(8):
        for ours, plain in pairs:
            x = tensor(1.0, i)
            assert ours(x).tolist() == plain(x).tolist() and ours.w.tolist() == plain.w.tolist()
    assert Model.__call__.counts["compiled"] >= 10


def test_a_model_rebuilt_each_epoch_compiles_once():
    def epoch(seed):
        model = net(seed=seed)
        opt = funtorch.optim.Adam(model.parameters(), lr=0.01)

        @funtorch.compile
        def step(x, y):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            return loss

        return [step(*labelled()(i)).item() for i in range(6)], step.counts["compiled"]

    first = epoch(0)
    before = funtorch.compiler.counters["programs"]
    assert epoch(0) == first and first[1] >= 3
    for seed in range(1, 4):
        assert epoch(seed)[1] >= 3
    assert funtorch.compiler.counters["programs"] == before


def test_a_global_model_replaced_each_epoch_compiles_once():
    model = net()

    @funtorch.compile
    def predict(x):
        return model(x)

    def epoch(seed):
        nonlocal model
        model = net(seed=seed)
        x = batch(4, 3)(seed)[0]
        return [funtorch.allclose(predict(x * k), model(x * k), rtol=1e-12) for k in range(4)]

    assert all(epoch(0))
    before = funtorch.compiler.counters["programs"]
    for seed in range(12):  # more than there may be programs
        assert all(epoch(seed))
    assert funtorch.compiler.counters["programs"] == before and predict.counts["compiled"] > 20


def test_compiled_modules_stand_for_their_modules():
    model = net(norm=True)
    run = funtorch.compile(model)
    assert isinstance(run, nn.Module) and isinstance(run, nn.Sequential)
    assert list(run.state_dict()) == list(model.state_dict())
    x = batch(4, 3)(0)[0]
    for _ in range(4):
        run(x)
    run.eval()
    assert not model.training and not run.training and run[0] is model[0]
    assert funtorch.allclose(run(x), model(x), rtol=1e-12)
    run.load_state_dict(copy.deepcopy(model.state_dict()))
    run.extra = 3
    assert model.extra == 3 and [n for n, _ in run.named_parameters()] == [n for n, _ in model.named_parameters()]
    assert "programs" in funtorch.compiler.explain(run)
    opt = funtorch.optim.SGD(run.parameters(), lr=0.1)
    assert opt.param_groups[0]["params"][0] is model[0].weight


@pytest.mark.parametrize("where", ["layer of a model", "wrapped again"])
def test_compiled_modules_in_modules(where):
    def build():
        inner = net(classes=3)
        part = inner if where == "plain" else funtorch.compile(inner)
        model = nn.Sequential(part, nn.Linear(3, 2)) if where == "layer of a model" else funtorch.compile(part)
        return Plan(lambda x: model(x), batch(4, 3), {"inner": inner})

    check(build, 8)


test_modules = cases.test
