"""A Module's members, and what is done with all of them: walking, moving, calling, printing, copying."""

from __future__ import annotations

import copy
import pickle

import jax
import pytest

import funtorch as ft

ONE = [1.0]

ASSIGNMENTS = {
    "parameter before init": lambda k: k.assign(k.Raw(), w=k.P(k.tensor(ONE))),
    "module before init": lambda k: k.assign(k.Raw(), w=k.Affine(1, 1)),
    "buffer before init": lambda k: k.assign(k.Raw(), w=k.nn.Buffer(k.tensor(ONE))),
    "tensor before init": lambda k: k.assign(k.Raw(), w=k.tensor(ONE)).w,
    "register parameter before init": lambda k: k.Raw().register_parameter("w", None),
    "register buffer before init": lambda k: k.Raw().register_buffer("w", None),
    "add module before init": lambda k: k.Raw().add_module("w", k.Affine(1, 1)),
    "print before init": lambda k: repr(k.Raw()),
    "no such attribute before init": lambda k: k.Raw().weight,
    "tensor for parameter": lambda k: k.assign(k.Affine(1, 1), weight=k.tensor(ONE)),
    "integers for parameter": lambda k: k.assign(k.Affine(1, 1), weight=k.tensor([1])),
    "number for parameter": lambda k: k.assign(k.Affine(1, 1), weight=3),
    "module for parameter": lambda k: k.assign(k.Affine(1, 1), weight=k.Affine(1, 1)),
    "buffer for parameter": lambda k: k.assign(k.Affine(1, 1), weight=k.nn.Buffer(k.tensor(ONE))),
    "none for parameter": lambda k: k.assign(k.Affine(1, 1), weight=None)._parameters,
    "parameter for parameter": lambda k: k.assign(k.Affine(1, 1), weight=k.P(k.tensor([5.0])))._parameters,
    "number for module": lambda k: setattr(k.net(), "0", 3),
    "tensor for module": lambda k: setattr(k.net(), "0", k.tensor(ONE)),
    "buffer for module": lambda k: setattr(k.net(), "0", k.nn.Buffer(k.tensor(ONE))),
    "number for buffer": lambda k: k.assign(k.Norm(), mean=3),
    "tensor for buffer": lambda k: k.assign(k.Norm(), mean=k.tensor([9.0]))._buffers,
    "none for buffer": lambda k: k.assign(k.Norm(), mean=None).state_dict(),
    "module for buffer": lambda k: k.assign(k.Norm(), mean=k.Affine(1, 1))._buffers,
    "parameter for buffer": lambda k: k.assign(k.Norm(), mean=k.P(k.tensor(ONE)))._buffers,
    "parameter for plain attribute": lambda k: list(k.assign(k.assign(k.Affine(1, 1), x=3), x=k.P(k.tensor(ONE))).state_dict()),
    "parameter with a dot": lambda k: k.net().register_parameter("a.b", None),
    "parameter without name": lambda k: k.net().register_parameter("", None),
    "parameter's name a number": lambda k: k.net().register_parameter(3, None),
    "parameter's name taken": lambda k: k.net().register_parameter("training", None),
    "no parameter": lambda k: k.net().register_parameter("w", 3),
    "tensor is no parameter": lambda k: k.net().register_parameter("w", k.tensor(ONE)),
    "buffer with a dot": lambda k: k.net().register_buffer("a.b", None),
    "buffer without name": lambda k: k.net().register_buffer("", None),
    "buffer's name a number": lambda k: k.net().register_buffer(3, None),
    "buffer's name taken": lambda k: k.Affine(1, 1).register_buffer("weight", k.tensor(ONE)),
    "no buffer": lambda k: k.net().register_buffer("w", 3),
    "module with a dot": lambda k: k.net().add_module("a.b", None),
    "module without name": lambda k: k.net().add_module("", None),
    "module's name a number": lambda k: k.net().add_module(3, None),
    "module's name taken": lambda k: k.net().add_module("training", None),
    "no module": lambda k: k.net().register_module("w", 3),
    "unknown attribute": lambda k: k.net().nope,
    "unknown attribute deleted": lambda k: delattr(k.net(), "nope"),
    "arguments for Module": lambda k: k.nn.Module(3),
    "keywords for Module": lambda k: k.nn.Module(a=3),
}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_assignments_and_their_errors_are_those_of_torch(alike, name):
    alike(ASSIGNMENTS[name])


def test_buffer_keeps_whether_it_is_saved(alike):
    def build(k):
        m = k.nn.Module()
        m.saved = k.nn.Buffer(k.tensor(ONE))
        m.unsaved = k.nn.Buffer(k.tensor(ONE), persistent=False)
        m.unsaved = k.tensor([4.0])
        m.register_buffer("again", k.tensor([5.0]), persistent=False)
        m.register_buffer("again", k.tensor([6.0]), persistent=True)
        return list(m.state_dict()), dict(m.named_buffers())

    alike(build)


def test_deleting_members(alike):
    def build(k):
        m = k.net()
        del m[0].weight
        del m[1].scratch
        m[0].register_buffer("scratch", k.tensor(ONE))
        m[1].scratch = k.tensor([7.0])
        return list(m.state_dict()), m[1].scratch, "scratch" in m[1]._buffers

    alike(build)


def test_non_leaf_tensor_in_place_of_a_parameter(alike):
    def build(k):
        m, source = k.Affine(2, 2), k.P(k.tensor([[1.0, 2.0], [3.0, 4.0]]))
        del m.weight
        m.weight = source * 2
        m(k.tensor([1.0, 1.0])).sum().backward()
        return source.grad, list(m._parameters), m.weight

    alike(build)


def test_non_leaf_parameter_is_refused(kit):
    parameter = kit.P(kit.tensor(ONE))
    parameter._node = (parameter * 2)._node
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'w'"):
        kit.nn.Module().register_parameter("w", parameter)


def test_dir_lists_members_but_no_numbers(kit):
    names = dir(kit.net())
    assert "training" in names and "forward" in names and "0" not in names
    assert {"weight", "bias"} <= set(dir(kit.Affine(1, 1)))


WALKS = {
    "named_parameters": lambda m: list(m.named_parameters()),
    "with prefix": lambda m: [n for n, _ in m.named_parameters(prefix="p")],
    "own only": lambda m: list(m.named_parameters(recurse=False)),
    "duplicates": lambda m: [n for n, _ in m.named_parameters(remove_duplicate=False)],
    "parameters": lambda m: list(m.parameters()),
    "named_buffers": lambda m: list(m.named_buffers()),
    "buffer duplicates": lambda m: [n for n, _ in m.named_buffers("q", remove_duplicate=False)],
    "buffers": lambda m: list(m.buffers(recurse=False)),
    "named_modules": lambda m: list(m.named_modules()),
    "module duplicates": lambda m: [n for n, _ in m.named_modules(prefix="r", remove_duplicate=False)],
    "named_children": lambda m: list(m.named_children()),
    "children": lambda m: list(m.children()),
    "modules": lambda m: list(m.modules()),
    "modules at each place": lambda m: list(m.modules(remove_duplicate=False)),
    "apply": lambda m: (lambda seen: (m.apply(lambda x: seen.append(repr(x))), seen)[1])([]),
}


@pytest.mark.parametrize("name", WALKS)
def test_walks_of_a_tree_with_ties(alike, name):
    def build(k):
        m = k.nn.Sequential(k.net(), k.Affine(2, 2))
        m[1].weight = m[0][0].weight
        m.again = m[0][1]
        m.none = None
        m.add_module("empty", None)
        return WALKS[name](m)

    alike(build)


PATHS = {
    "itself": lambda k, m: m.get_submodule(""),
    "missing": lambda k, m: m.get_submodule("0.x"),
    "not a module": lambda k, m: m.get_submodule("0.weight"),
    "no such": lambda k, m: m.get_submodule("5"),
    "parameter": lambda k, m: m.get_parameter("0.weight"),
    "missing parameter": lambda k, m: m.get_parameter("0.foo"),
    "buffer as parameter": lambda k, m: m.get_parameter("1.mean"),
    "buffer": lambda k, m: m.get_buffer("1.mean"),
    "parameter as buffer": lambda k, m: m.get_buffer("0.weight"),
    "missing buffer": lambda k, m: m.get_buffer("1.w"),
    "set below": lambda k, m: (m.set_submodule("0.a", k.Affine(1, 1)), m),
    "set without target": lambda k, m: m.set_submodule("", k.Affine(1, 1)),
    "set no module": lambda k, m: m.set_submodule("0", 3),
    "set over parameter": lambda k, m: m.set_submodule("0.weight", k.Affine(1, 1)),
    "set over attribute": lambda k, m: m.set_submodule("0.training", k.Affine(1, 1)),
    "set strict": lambda k, m: m.set_submodule("7", k.Affine(1, 1), strict=True),
    "set over module strict": lambda k, m: (m.set_submodule("0", k.Affine(1, 1), strict=True), m),
    "set beyond": lambda k, m: m.set_submodule("8.7", k.Affine(1, 1)),
}


@pytest.mark.parametrize("name", PATHS)
def test_paths_and_their_errors_are_those_of_torch(alike, name):
    alike(lambda k: PATHS[name](k, k.net()))


MOVES = {
    "nothing": lambda k, m: m.to(),
    "none": lambda k, m: m.to(None),
    "dtype": lambda k, m: m.to(k.lib.float64),
    "dtype by name": lambda k, m: m.to(dtype=k.lib.float64),
    "device and dtype": lambda k, m: m.to("cpu", k.lib.float64, True),
    "device": lambda k, m: m.to(device=k.lib.device("cpu")),
    "like a tensor": lambda k, m: m.to(k.tensor([1.0], dtype=k.lib.float64)),
    "half": lambda k, m: m.half(),
    "bfloat16": lambda k, m: m.bfloat16(),
    "double": lambda k, m: m.double(),
    "double and float": lambda k, m: m.double().float(),
    "type": lambda k, m: m.type(k.lib.float64),
    "cpu": lambda k, m: m.cpu(),
    "integers": lambda k, m: m.to(k.lib.int64),
    "channels last": lambda k, m: k.nn.Conv2d(1, 0, 3).to(memory_format=k.lib.channels_last),
    "another rank's format": lambda k, m: k.nn.Conv2d(1, 2, 3).to(memory_format=k.lib.channels_last_3d),
    "like integers": lambda k, m: m.to(k.tensor([1])),
}


@pytest.mark.parametrize("name", MOVES)
def test_moves(alike, name):
    alike(lambda k: MOVES[name](k, k.net()).state_dict())


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.to(bad=1),
        lambda m: m.to("cpu", device="cpu"),
        lambda m: m.to(dtype="float"),
        lambda m: m.to(memory_format=3),
        lambda m: m.to("cpu", 3),
        lambda m: m.to(ft.float32, False, 1, 2, 3),
    ],
)
def test_to_says_which_forms_it_has(kit, call):
    with pytest.raises(TypeError, match=r"to\(\) received an invalid combination of arguments - got \("):
        call(kit.net())


def test_a_wrong_device_changes_nothing(alike):
    assert issubclass(alike(lambda k: k.net().to("nowhere"), text=False), RuntimeError)


def test_moves_keep_identity_and_convert_gradients(alike):
    def build(k):
        m = k.Affine(2, 2)
        weight = m.weight
        m(k.tensor([1.0, 2.0])).sum().backward()
        grad = weight.grad
        m.double()
        return m.weight is weight, weight.grad is grad, weight, grad, weight.is_leaf

    alike(build)


def test_failing_conversion_leaves_a_parameter_whole(kit):
    m = kit.Affine(1, 1)
    m.weight.grad = kit.tensor([[2.0]])
    before = copy.deepcopy(m.state_dict())

    def fails_for_the_value(tensor):
        if tensor is m.weight:
            raise ValueError("no")
        return tensor * 2

    with pytest.raises(ValueError, match="no"):
        m._apply(fails_for_the_value)
    assert m.weight.grad.tolist() == [[2.0]]
    assert [v.tolist() for v in m.state_dict().values()] == [v.tolist() for v in before.values()]


def test_to_empty_keeps_shapes(alike):
    def build(k):
        m = k.net().to_empty(device="cpu")
        return [(n, tuple(t.shape), str(t.dtype)) for n, t in m.state_dict().items()]

    alike(build)


def test_train_and_eval(alike):
    alike(lambda k: [m.training for m in k.net().eval().modules()])
    alike(lambda k: [m.training for m in k.net().eval().train().modules()])
    alike(lambda k: k.net().train(3))


def test_requires_grad_and_zero_grad(alike):
    def build(k):
        m = k.Affine(2, 2)
        m(k.tensor([1.0, 2.0])).sum().backward()
        m.bias.requires_grad_(False)
        m.zero_grad(set_to_none=False)
        zeros = [p.grad for p in m.parameters()]
        m.zero_grad()
        return zeros, [p.grad for p in m.parameters()], m.requires_grad_(False)

    alike(build)


def test_printing(alike):
    def build(k):
        class Named(k.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = k.nn.Sequential(k.net(), k.nn.Module())
                self.add_module("none", None)

            def extra_repr(self):
                return "first\nsecond"

        return [repr(m) for m in (Named(), k.nn.Module(), k.Affine(1, 2), k.nn.Sequential(Named()))]

    alike(build)


def test_missing_forward(alike):
    alike(lambda k: k.nn.Module()(1))


def test_call_before_init_says_what_is_missing(kit):
    with pytest.raises(AttributeError, match=r"'Raw' object has no attribute .*super\(\).__init__\(\)"):
        kit.Raw()(1)


def test_call_super_init(alike):
    def build(k):
        class Other:
            def __init__(self, x):
                self.x = x

        class Both(k.nn.Module, Other):
            call_super_init = True

        return Both(5).x

    alike(build)


def test_error_names_the_path_of_the_module(kit):
    class Fails(kit.nn.Module):
        def forward(self, x):
            raise ValueError("boom")

    class Model(kit.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = kit.nn.ModuleList([kit.Affine(1, 1), kit.nn.Sequential(kit.net(), Fails())])

        def forward(self, x):
            return self.layers[1][1](x)

    with pytest.raises(ValueError, match="boom") as caught:
        Model()(1)
    assert caught.value.__notes__ == ["in Model.layers.1.1 (Fails)"]
    with pytest.raises(ValueError, match="boom") as caught:
        Fails()(1)
    assert caught.value.__notes__ == ["in Fails"]
    pickle.dumps(caught.value)


def test_error_from_a_module_outside_keeps_its_own_path(kit):
    class Fails(kit.nn.Module):
        def forward(self, x):
            raise ValueError("boom")

    outside = kit.nn.Sequential(Fails())

    class Model(kit.nn.Module):
        def forward(self, x):
            return outside(x)

    with pytest.raises(ValueError, match="boom") as caught:
        Model()(1)
    assert caught.value.__notes__ == ["in Sequential.0 (Fails)"]


def test_recorder_is_told_of_every_module_called(kit, monkeypatch):
    from funtorch.core.state import state

    class Recorder:
        def __init__(self):
            self.called = []

        def module_called(self, module):
            self.called.append(module)

    class Twice(kit.nn.Module):
        def forward(self, x):
            return 2 * x

    recorder, m = Recorder(), kit.nn.Sequential(Twice(), Twice())
    monkeypatch.setattr(state, "recorder", recorder)
    assert m(3) == 12
    monkeypatch.setattr(state, "recorder", None)
    assert recorder.called == [m, m[0], m[1]]


def test_deepcopy_and_pickle_keep_ties_and_kinds(alike, kit):
    def build(k):
        m = k.nn.Sequential(k.Affine(2, 2), k.Affine(2, 2), k.Norm())
        m[1].weight = m[0].weight
        m[0].weight.grad = k.tensor([[1.0, 1.0], [1.0, 1.0]])
        c = copy.deepcopy(m)
        with k.lib.no_grad():
            c[0].weight.mul_(2)
        return c[0].weight is c[1].weight, c, c.state_dict(), m.state_dict(), c[0].weight.grad

    alike(build)
    m = ft.nn.Sequential(ft.nn.ParameterList([ft.nn.Parameter(ft.tensor(ONE))]), ft.nn.Module())
    m[1].tied = m[0][0]
    m[1].register_buffer("kept", ft.tensor([2.0]), persistent=False)
    again = pickle.loads(pickle.dumps(m))
    assert again[1].tied is again[0][0] and isinstance(again[1].tied, ft.nn.Parameter)
    assert again[1].kept.tolist() == [2.0] and list(again.state_dict()) == list(m.state_dict())


def test_setstate_fills_in_what_an_older_pickle_lacks(kit):
    m = kit.Affine(1, 1)
    saved = {"_parameters": dict(m._parameters), "training": False, "_buffers": {}, "_modules": {}}
    old = object.__new__(type(m))
    old.__setstate__(saved)
    assert old(kit.tensor([2.0])).tolist() == m(kit.tensor([2.0])).tolist()
    assert not old.training


def test_compile_takes_the_place_of_calls_and_is_not_copied(kit, monkeypatch):
    seen = []

    def compile(fn, *args, **kwargs):
        seen.append((args, kwargs))
        return lambda *inputs: ("compiled", fn(*inputs))

    monkeypatch.setattr(ft.transforms, "compile", compile)

    class Twice(kit.nn.Module):
        def forward(self, x):
            return 2 * x

    m = Twice()
    m.compile(verify=1)
    assert m(2) == ("compiled", 4) and seen == [((), {"verify": 1})]
    assert copy.deepcopy(m)(2) == 4


def test_a_module_is_a_pytree(kit):
    m = kit.nn.Sequential(kit.net(), kit.Affine(2, 2))
    m[1].weight = m[0][0].weight
    m[0][0].note = "kept"
    leaves, structure = jax.tree_util.tree_flatten(m)
    assert len(leaves) == 6  # weight and two biases, mean, count, scratch
    paths = [path[0].name for path, _ in jax.tree_util.tree_flatten_with_path(m)[0]]
    assert paths == ["0.0.weight", "0.0.bias", "1.bias", "0.1.mean", "0.1.count", "0.1.scratch"]
    doubled = jax.tree.map(lambda leaf: leaf * 2, m)
    assert type(doubled) is type(m) and doubled[1].weight is doubled[0][0].weight
    assert isinstance(doubled[1].weight, kit.P) and doubled[1].weight.requires_grad
    assert doubled[0][0].weight.tolist() == [[1.0, -1.0], [3.0, 1.0]]
    assert doubled[0][0].note == "kept" and m[0][0].weight.tolist() == [[0.5, -0.5], [1.5, 0.5]]
    assert list(doubled.state_dict()) == list(m.state_dict())


def test_a_pytree_structure_tells_modes_and_attributes_apart(kit):
    m = kit.net()
    structure = jax.tree_util.tree_structure
    first = structure(m)
    assert first == structure(m) and hash(first) == hash(structure(m))
    assert first == structure(copy.deepcopy(m))
    assert first != structure(m.eval())
    m.train()
    m[0].n_in = 7
    assert first != structure(m)


def test_a_module_goes_through_jit(kit):
    traced = []

    @jax.jit
    def double_weight(m):
        traced.append(m.training)
        return jax.tree.map(lambda leaf: leaf * 2, m)

    m = kit.Affine(1, 1)
    assert double_weight(m).weight.tolist() == [[1.0]]
    assert double_weight(double_weight(m)).weight.tolist() == [[2.0]]
    assert double_weight(m.eval()).weight.tolist() == [[1.0]] and traced == [True, False]


def test_unflatten_runs_no_init(kit):
    class Strict(kit.nn.Module):
        def __init__(self, must_be_given):
            super().__init__()
            self.w = kit.P(kit.tensor([must_be_given]))

    leaves, structure = jax.tree_util.tree_flatten(Strict(1.0))
    assert jax.tree_util.tree_unflatten(structure, ["anything"]).w is not None
    assert jax.tree_util.tree_unflatten(structure, leaves).w.tolist() == [1.0]
