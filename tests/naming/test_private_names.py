"""Private functions of PyTorch's that public code asks for their state."""

from __future__ import annotations

import importlib

import pytest
import torch

import funtorch
from funtorch.naming.missing import NotThere


def test_whether_a_transform_is_active():
    seen = []

    def look(t):
        def inner(x):
            seen.append(t._C._are_functorch_transforms_active())
            return x * 2

        return inner

    for t in (torch, funtorch):
        assert not t._C._are_functorch_transforms_active()
        t.vmap(look(t))(t.ones(2))
    assert seen == [True, True]


def test_what_is_not_going_on():
    for t in (torch, funtorch):
        assert t._C._get_tracing_state() is None
        assert t._C._log_api_usage_once("mine") is None
        assert not t.onnx.is_in_onnx_export()
        assert not t.compiler.is_exporting()
        assert t._C._get_default_device() == "cpu"
        assert issubclass(t._C._LinAlgError, RuntimeError)
    with funtorch.device("meta"):
        assert funtorch._C._get_default_device() == "meta"


def test_settings_of_the_jit_are_accepted():
    assert funtorch._C._jit_set_profiling_mode(False) is False
    assert funtorch._C._jit_override_can_fuse_on_cpu(True) is False


def test_marks_for_the_compiler_change_nothing():
    def double(x):
        return 2 * x

    for mark in (funtorch.compiler.allow_in_graph, funtorch.compiler.assume_constant_result):
        assert mark(double) is double
    assert funtorch.compiler.cudagraph_mark_step_begin() is None


PRIVATE = {
    "nn._reduction": "get_enum legacy_get_string legacy_get_enum",
    "nn.functional": "_Reduction _canonical_mask _get_softmax_dim _in_projection _in_projection_packed _list_with_default "
    "_mha_shape_check _none_or_dtype _pair _single _triple _verify_batch_size has_torch_function",
    "nn.init": "_calculate_correct_fan _calculate_fan_in_and_fan_out _no_grad_fill_ _no_grad_normal_ _no_grad_trunc_normal_ "
    "_no_grad_uniform_ _no_grad_zero_",
    "nn.modules.container": "_addindent",
    "nn.modules.conv": "_ConvNd _ConvTransposeMixin _ConvTransposeNd",
    "nn.modules.module": "_EXTRA_STATE_KEY_SUFFIX _IncompatibleKeys _addindent _global_backward_hooks _global_backward_pre_hooks "
    "_global_forward_hooks _global_forward_pre_hooks _has_any_global_hook",
    "nn.modules.padding": "_CircularPadNd _ConstantPadNd _ReflectionPadNd _ReplicationPadNd",
    "nn.modules.pooling": "_AdaptiveAvgPoolNd _AdaptiveMaxPoolNd _AvgPoolNd _LPPoolNd _MaxPoolNd _MaxUnpoolNd",
    "nn.modules.transformer": "_detect_is_causal_mask _generate_square_subsequent_mask _get_activation_fn _get_clones _get_seq_len",
    "nn.modules.utils": "_list_with_default _ntuple _pair _quadruple _reverse_repeat_tuple _single _triple",
    "nn.utils.clip_grad": "_clip_grads_with_norm_ _get_total_norm",
    "nn.utils.stateless": "_reparametrize_module",
    "optim.lr_scheduler": "EPOCH_DEPRECATION_WARNING _LRScheduler _format_param _param_groups_val_list _update_param_group_val "
    "_warn_get_lr_called_within_step",
    "optim.optimizer": "_RequiredParameter _capturable_doc _default_to_fused_or_foreach _device_dtype_check_for_fused _differentiable_doc "
    "_dispatch_sqrt _foreach_doc _fused_doc _get_scalar_dtype _get_value _global_optimizer_post_hooks _maximize_doc _params_doc _params_t "
    "_stack_if_compiling _use_grad_for_differentiable _view_as_real required",
    "distributions.lowrank_multivariate_normal": "_batch_capacitance_tril _batch_lowrank_logdet _batch_lowrank_mahalanobis",
    "distributions.multivariate_normal": "_batch_mahalanobis _batch_mv _precision_to_scale_tril",
    "distributions.von_mises": "_log_modified_bessel_fn",
    "amp.autocast_mode": "autocast_decorator",
    "utils._foreach_utils": "_device_has_foreach_support _get_foreach_kernels_supported_devices _get_fused_kernels_supported_devices "
    "_group_tensors_by_device_and_dtype _has_foreach_support",
    "overrides": "has_torch_function has_torch_function_unary has_torch_function_variadic is_tensor_like",
}


@pytest.mark.parametrize("path", PRIVATE)
def test_names_that_public_code_imports(path):
    module = importlib.import_module(f"funtorch.{path}")
    assert [name for name in PRIVATE[path].split() if isinstance(getattr(module, name), NotThere)] == []


def test_helpers_of_copied_modules():
    for t in (torch, funtorch):
        of = importlib.import_module(f"{t.__name__}.nn.modules.transformer")
        assert len(of._get_clones(t.nn.Linear(1, 1), 3)) == 3 and of._get_activation_fn("gelu") is t.nn.functional.gelu
        causal = of._generate_square_subsequent_mask(3)
        assert [of._detect_is_causal_mask(m) for m in (None, causal, causal * 0)] == [False, True, False]
        reduction = importlib.import_module(f"{t.__name__}.nn._reduction")
        assert [reduction.get_enum(word) for word in ("none", "mean", "sum")] == [0, 1, 2]
        assert reduction.legacy_get_string(None, False, emit_warning=False) == "none"
        weight = t.nn.init._no_grad_uniform_(t.empty(4, requires_grad=True), 2.0, 3.0)
        assert weight.is_leaf and weight.min() >= 2
        stateless = importlib.import_module(f"{t.__name__}.nn.utils.stateless")
        layer = t.nn.Linear(1, 1)
        with stateless._reparametrize_module(layer, {"weight": t.tensor([[3.0]]), "bias": t.tensor([1.0])}):
            assert layer(t.tensor([2.0])).item() == 7
        assert layer.weight.requires_grad


def test_parts_of_copied_attention():
    def run(t):
        F = importlib.import_module(f"{t.__name__}.nn.functional")
        t.manual_seed(0)
        q, k, w, b = t.randn(2, 4), t.randn(3, 4), t.randn(12, 4), t.randn(12)
        mask = F._canonical_mask(t.tensor([True, False]), "mask", None, "other", t.float32)
        return [
            *F._in_projection_packed(q, q, q, w, b),
            *F._in_projection_packed(q, k, k, w),
            *F._in_projection(q, k, k, *w.chunk(3)),
            mask,
        ]

    for theirs, ours in zip(run(torch), run(funtorch), strict=True):
        assert theirs.shape == ours.shape and torch.allclose(theirs, torch.tensor(ours.tolist()), atol=1e-5)


def test_bases_take_what_subclasses_of_theirs_give():
    """Layers of one's own begin with the base's ``__init__``, and the windows of the outputs ask for its padding."""

    def run(t):
        conv = importlib.import_module(f"{t.__name__}.nn.modules.conv")

        class Own(conv._ConvNd):
            def __init__(self):
                super().__init__(2, 4, (3, 3), (1, 1), (1, 1), (1, 1), False, (0, 0), 2, True, "zeros")

            def forward(self, x):
                return t.nn.functional.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

        t.manual_seed(0)
        up = t.nn.ConvTranspose2d(1, 1, 3, 2)
        extra = up._output_padding(t.ones(1, 1, 4, 4), [10, 9], up.stride, up.padding, up.kernel_size, 2, up.dilation)
        return repr(Own()), tuple(Own()(t.ones(1, 2, 5, 5)).shape), list(extra), isinstance(t.nn.ZeroPad2d(1), t.nn.ConstantPad2d)

    assert run(torch) == run(funtorch)


def test_helpers_of_modules_and_optimisers():
    for t in (torch, funtorch):
        layer = t.nn.Linear(2, 1)
        layer.register_full_backward_hook(lambda m, gi, go: None)
        assert [len(hooks) for hooks in layer._get_backward_hooks()] == [1, 0]
        replica = layer._replicate_for_data_parallel()
        assert replica._parameters == {} and replica._is_replica and layer._parameters
        assert layer._wrapped_call_impl(t.ones(1, 2)).shape == layer._slow_forward(t.ones(1, 2)).shape
        assert issubclass(t.optim.lr_scheduler._LRScheduler, t.optim.lr_scheduler.LRScheduler)


def test_parts_of_normal_laws():
    def run(t):
        of = importlib.import_module(f"{t.__name__}.distributions.lowrank_multivariate_normal")
        mvn = importlib.import_module(f"{t.__name__}.distributions.multivariate_normal")
        bessel = importlib.import_module(f"{t.__name__}.distributions.von_mises")._log_modified_bessel_fn
        w, d, x = t.tensor([[1.0], [2.0]]), t.tensor([0.5, 2.0]), t.tensor([1.0, -1.0])
        root = of._batch_capacitance_tril(w, d)
        p = t.tensor([[2.0, 0.5], [0.5, 1.0]])
        return [
            root, of._batch_lowrank_logdet(w, d, root), of._batch_lowrank_mahalanobis(w, d, x, root), mvn._precision_to_scale_tril(p),
            mvn._batch_mv(p, x), mvn._batch_mahalanobis(p.tril(), x), bessel(d), bessel(d, order=1),
        ]  # fmt: skip

    for theirs, ours in zip(run(torch), run(funtorch), strict=True):
        assert torch.allclose(theirs, torch.tensor(ours.tolist()), atol=1e-5)
