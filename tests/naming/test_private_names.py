"""Private functions of PyTorch's that public code asks for their state."""

from __future__ import annotations

import torch

import funtorch


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
