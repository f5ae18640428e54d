"""What describes Tensors and dtypes: torch.Size, strides, finfo and iinfo, named results. As torch shows them."""

import warnings

import pytest
import torch

import funtorch
from funtorch.ops.return_types import TYPES

SIZES = [
    "torch.Size([1,2]) + (3,)",
    "(3,) + torch.Size([1,2])",
    "torch.Size([1,2]) * 2",
    "torch.Size([1,2])[0:1]",
    "torch.Size([1,2])[0]",
    "torch.Size([1,2]).numel()",
    "torch.Size(torch.ones(2,3).shape)",
    "torch.Size([1.5])",
    "torch.Size(['a'])",
    "torch.Size()",
    "torch.Size([torch.tensor(2)])",
    "torch.Size([True])",
    "list(torch.Size([1,2]))",
    "hash(torch.Size([1,2]))==hash((1,2))",
    "torch.Size([1,2])==(1,2)",
    "torch.Size([1,2])==[1,2]",
    "torch.ones(2,3).shape.index(3)",
    "torch.ones(2,3).shape.count(3)",
    "isinstance(torch.ones(2,3).shape, tuple)",
    "2*torch.Size([1])",
    "__import__('pickle').loads(__import__('pickle').dumps(torch.Size([1,2])))",
    "__import__('copy').deepcopy(torch.Size([1,2]))",
]
STRIDES = [
    "torch.channels_last",
    "isinstance(torch.channels_last, torch.memory_format)",
    "torch.ones(1,2,3,4).to(memory_format=torch.channels_last).is_contiguous(memory_format=torch.channels_last)",
    "torch.ones(2,3).t().contiguous().stride()",
    "(torch.ones(2,3).t()@torch.ones(2,3)).stride()",
    "torch.ones(2,3).t().float().stride()",
    "torch.ones(2,3).t().sum(0,keepdim=True).stride()",
    "torch.ones(0,3).stride()",
    "torch.ones(3,0,2).stride()",
    "torch.ones(()).stride()",
    "torch.ones(2,1,3).stride()",
    "torch.ones(2,3)[:, None].stride()",
    "torch.ones(2,3)[None].stride()",
    "torch.ones(2,3).unsqueeze(1).stride()",
    "torch.ones(2,3).unsqueeze(-1).stride()",
    "torch.ones(2,3).expand(4,2,3).stride()",
    "torch.ones(3).expand(2,-1).stride()",
    "torch.ones(2,3,4).permute(2,0,1).stride()",
    "torch.ones(2,3,4)[:, ::2].stride()",
    "torch.ones(2,3,4)[:, 1:].storage_offset()",
    "torch.ones(2,3,4)[1].storage_offset()",
    "torch.ones(6).as_strided((2,2),(1,2),1).stride()",
    "torch.ones(2,3).view(3,2).stride()",
    "torch.ones(2,3,4).flatten(1).stride()",
    "torch.ones(2,3,4).transpose(0,1).flatten(1).stride()",
    "torch.ones(2,3,4).squeeze().stride()",
    "torch.ones(2,1,4).squeeze(1).stride()",
    "torch.ones(2,3,4).unfold(2,2,1).stride()",
    "torch.ones(3,3).diagonal().stride()",
    "torch.ones(2,3,dtype=torch.complex64).real.stride()",
    "torch.ones(2,3,dtype=torch.complex64).imag.storage_offset()",
    "torch.view_as_real(torch.ones(2,3,dtype=torch.complex64)).stride()",
    "torch.ones(2,4).view(torch.int32).stride()",
    "torch.ones(2,4).view(torch.float64).stride()",
    "torch.ones(2,4).view(torch.int16).stride()",
    "torch.cat([torch.ones(2,3)]*2).stride()",
    "torch.ones(2,3).T.stride()",
    "torch.ones(2,3).mT.stride()",
    "torch.ones(2,3).t().reshape(-1).stride()",
    "torch.ones(2,3).t().is_contiguous()",
    "torch.ones(2,1).t().is_contiguous()",
    "torch.ones(2,3).detach().stride()",
    "torch.ones(2,3).broadcast_to(2,2,3).stride()",
    "torch.ones(4,4).unbind(1)[1].stride()",
    "torch.ones(4,4).split(2,1)[1].stride()",
    "torch.ones(4,4).split(2,1)[1].storage_offset()",
    "torch.ones(2,3).swapaxes(0,1).stride()",
    "torch.ones(2,3).movedim(0,1).stride()",
    "torch.ones(2,3,4)[..., 0].stride()",
    "torch.ones(2,3,4)[:, [0,1]].stride()",
    "torch.ones(2, 3).broadcast_to((2, 2, 3)).stride()",
    "torch.ones(2, 3).dim_order()",
    "torch.ones(2, 3).t().dim_order()",
    "isinstance(torch.preserve_format, torch.memory_format)",
    "isinstance(torch.strided, torch.layout)",
    "torch.ones(2, 3).is_set_to(torch.ones(2, 3))",
]
DTYPES = [
    "torch.float32.is_floating_point",
    "torch.float32.itemsize",
    "torch.complex64.to_real()",
    "torch.float32.is_signed",
    "torch.uint8.is_signed",
    "torch.bool.itemsize",
    "str(torch.float32), repr(torch.half)",
    "torch.float is torch.float32",
]
LIMITS = [
    "torch.finfo(torch.float32)",
    "torch.finfo()",
    "torch.finfo(torch.float16)",
    "torch.finfo(torch.bfloat16)",
    "torch.finfo(torch.float64).eps",
    "torch.finfo(torch.float64).tiny",
    "torch.finfo(torch.float64).smallest_normal",
    "torch.finfo(torch.float64).resolution",
    "torch.finfo(torch.bfloat16).resolution",
    "torch.finfo(torch.float16).resolution",
    "torch.finfo(torch.float32).bits",
    "torch.finfo(torch.float32).dtype",
    "torch.finfo(torch.float32).min",
    "torch.finfo(torch.float32).max",
    "torch.finfo(torch.complex64)",
    "torch.finfo(torch.complex64).dtype",
    "torch.finfo(torch.int32)",
    "torch.finfo(torch.float8_e4m3fn)",
    "torch.finfo(torch.float8_e5m2)",
    "torch.finfo(torch.float32) == torch.finfo(torch.float32)",
    "torch.iinfo(torch.int8)",
    "torch.iinfo(torch.uint8).max",
    "torch.iinfo(torch.uint64).max",
    "torch.iinfo(torch.int64).min",
    "torch.iinfo(torch.int64).bits",
    "torch.iinfo(torch.int32).dtype",
    "torch.iinfo(torch.bool)",
    "torch.iinfo(torch.float32)",
    "torch.iinfo()",
    "torch.iinfo(torch.int32) == torch.iinfo(torch.int32)",
]
RESULTS = [
    "torch.ones(2,3).size()+torch.ones(2,3).size()",
    "torch.ones(2,3).max(1)",
    "torch.ones(2,3).max(1)._fields if hasattr(torch.ones(2,3).max(1),'_fields') else ('values','indices')",
    "torch.ones(2,3).max(1).indices",
    "torch.ones(2,3).sort().values.shape",
    "type(torch.ones(2,3).max(1)).__name__",
    "isinstance(torch.ones(2,3).max(1), torch.return_types.max)",
    "torch.return_types.max((torch.ones(1), torch.ones(1)))",
    "torch.linalg.svd(torch.eye(2)).Vh.shape",
    "torch.linalg.slogdet(torch.eye(2))",
    "torch.linalg.eigh(torch.eye(2)).eigenvalues",
    "torch.linalg.qr(torch.eye(2)).Q.shape",
    "torch.linalg.lstsq(torch.eye(2), torch.eye(2)).rank",
    "torch.aminmax(torch.ones(2)).min",
    "torch.histogram(torch.ones(2), 2).hist",
    "torch.frexp(torch.ones(2)).mantissa",
    "torch.topk(torch.ones(2),1)",
    "torch.mode(torch.ones(2))",
    "torch.cummax(torch.ones(2),0)",
    "torch.geqrf(torch.eye(2)).tau.shape",
    "torch.linalg.lu_factor(torch.eye(2)).pivots",
    "torch.unique_consecutive(torch.ones(2), return_counts=True)",
    "torch.ones(2,3).max(1)[0]",
    "torch.ones(2,3).max(1)[-1]",
    "len(torch.ones(2,3).max(1))",
    "torch.std_mean(torch.ones(2,2))",
]


def shown(module, line):
    """The text of an expression's value, or the kind of error that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(eval(line, {"torch": module}))
        except Exception as error:
            return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")


@pytest.mark.parametrize("line", [*SIZES, *STRIDES, *DTYPES, *LIMITS, *RESULTS])
def test_as_torch_shows_it(line):
    assert shown(funtorch, line) == shown(torch, line)


def test_memory_formats_change_no_values():
    x = funtorch.arange(24).reshape(1, 2, 3, 4)
    for made in (
        x.contiguous(memory_format=funtorch.channels_last),
        x.to(memory_format=funtorch.channels_last),
        x.clone(memory_format=funtorch.channels_last),
    ):
        assert made.equal(x) and made.shape == x.shape


def test_named_results_have_torch_s_fields():
    for name, made in TYPES.items():
        want = [
            field
            for field in dir(getattr(torch.return_types, name))
            if not field.startswith(("_", "n_")) and field not in ("count", "index")
        ]
        assert sorted(made._fields) == want, name
