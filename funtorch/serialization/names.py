"""What PyTorch calls funtorch's classes and functions: files name ``torch.nn.modules.linear.Linear``, and mean `nn.Linear`."""

from __future__ import annotations

import functools
import importlib
import re
import sys
from types import FunctionType
from typing import Any

from .. import layouts, storage
from ..core.generators import Generator
from ..devices import device
from ..dtypes import PUBLIC, dtype
from ..errors import MissingError
from ..naming.missing import NotThere
from ..size import Size
from ..tensor import Tensor
from . import rebuilding
from .hooks import WrappedHook

OURS, THEIRS = "funtorch", "torch"
NOT_HERE = "load(): the file names {}.{}, and funtorch has nothing of that name"
# Types that PyTorch has and funtorch has not, with what to save instead.
_OTHER_TYPES = {
    r"torch\.(q|Q|per_tensor_|per_channel_)\w*": rebuilding.NO_QUANTIZED,
    r"torch\.(complex32|ComplexHalf\w*)": (
        "load(): the file holds a Tensor of dtype torch.complex32, which funtorch does not have. In PyTorch, save "
        "tensor.to(torch.complex64)."
    ),
    r"torch\.(float(8|4)_\w+|bits\w+|u?int[1-7])": (
        "load(): the file holds a Tensor of dtype {}, which funtorch does not have. In PyTorch, save tensor.view(torch.uint8)."
    ),
}

# Layers that PyTorch keeps in another file than funtorch does.
_LAYERS = {
    "activation": (
        "Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSoftmax MultiheadAttention PReLU RReLU ReLU ReLU6 Softmax "
        "Softmax2d Softmin Softplus Softshrink Tanhshrink Threshold"
    ),
    "batchnorm": "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d",
    "channelshuffle": "ChannelShuffle",
    "container": "ParameterDict ParameterList",
    "conv": "LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d",
    "instancenorm": "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d",
    "linear": "LazyLinear",
    "loss": (
        "CosineEmbeddingLoss HingeEmbeddingLoss LinearCrossEntropyLoss MarginRankingLoss MultiLabelMarginLoss "
        "MultiLabelSoftMarginLoss MultiMarginLoss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss"
    ),
    "module": "Module",
    "pixelshuffle": "PixelShuffle PixelUnshuffle",
    "pooling": "FractionalMaxPool2d FractionalMaxPool3d",
    "rnn": "GRUCell LSTMCell RNNBase RNNCell RNNCellBase",
    "transformer": "TransformerDecoderLayer TransformerEncoderLayer",
}
_FILE_OF_LAYER = {name: file for file, names in _LAYERS.items() for name in names.split()}

# Folders and files of funtorch whose content PyTorch has at one address.
_ADDRESSES = {
    "funtorch.nn.module": "torch.nn.modules.module",
    "funtorch.optim.lr_scheduler": "torch.optim.lr_scheduler",
    "funtorch.utils.data.collate": "torch.utils.data._utils.collate",
    "funtorch.utils.data.worker": "torch.utils.data._utils.worker",
}
_FUNCTIONS = ("torch.nn.functional", "torch.nn.init", "torch")  # where a function of the op files may be public
# Addresses inside PyTorch's compiled part.
_INSIDE = {"torch._C._nn": "torch.nn.functional", "torch._C._VariableFunctions": "torch", "torch._C": "torch"}

_EXACT: dict[tuple[str, str], Any] = {
    ("torch", "Tensor"): Tensor,
    ("torch", "Size"): Size,
    ("torch", "device"): device,
    ("torch.storage", "UntypedStorage"): storage.UntypedStorage,
    ("torch.storage", "TypedStorage"): storage.TypedStorage,
    ("torch.serialization", "_get_layout"): rebuilding._get_layout,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuilding._rebuild_from_type_v2,
    ("torch.nn.parameter", "Parameter"): rebuilding.Parameter,
    ("torch.nn.parameter", "Buffer"): rebuilding.Buffer,
}
_EXACT |= {("torch._utils", function.__name__): function for function in rebuilding.OF_UTILS}
_EXACT |= {("torch", name): cls for name, cls in storage.TYPES.items()}
# What holds PyTorch's own functions and methods, of which files have "the attribute sin": only for files that are read as code.
_HOLDERS = {("torch._C", "_VariableFunctionsClass"): OURS}
# What a file may name that is read as code, and no other.
_TRUSTED = {("torch.nn.modules.module", "_WrappedHook"): WrappedHook, ("torch._C", "Generator"): Generator}
_NAME_OF = {id(value): key for key, value in (_EXACT | _TRUSTED).items()}
# Names that are read and never written.
_READ: dict[tuple[str, str], Any] = {("torch.cuda", name): cls for name, cls in storage.TYPES.items()}
_READ |= {("torch", name): kind for name, kind in PUBLIC.items()}
_READ |= {("torch", name): found for name, found in layouts.PUBLIC.items()}
_READ |= {
    ("torch.tensor", "_rebuild_from_type_v2"): rebuilding._rebuild_from_type_v2,
    ("torch._utils", "_rebuild_xla_tensor"): rebuilding._rebuild_device_tensor_from_numpy,
}


def known() -> dict[tuple[str, str], Any]:
    """The addresses that stand in tables here, with what they mean: all that a state dict needs."""
    return _READ | _EXACT


def is_theirs(module: str) -> bool:
    """Whether a module belongs to PyTorch, or to funtorch."""
    return module.split(".", 1)[0] in (OURS, THEIRS)


def _attribute(module: str, name: str) -> Any:
    """What ``name``, maybe dotted, is in a module of funtorch; raises LookupError."""
    try:
        found: Any = sys.modules.get(module) or importlib.import_module(module)
        found = functools.reduce(getattr, name.split("."), found)
    except (ImportError, AttributeError, MissingError) as error:
        raise LookupError(name) from error
    if isinstance(found, NotThere):
        raise LookupError(name)
    return found


def refuse_other_types(full: str) -> None:
    """Raise NotImplementedError for the full name of a dtype, or of its storages, that funtorch has not."""
    for pattern, message in _OTHER_TYPES.items():
        if re.fullmatch(pattern, full):
            raise MissingError(message.format(full))


def resolve(module: str, name: str) -> Any:
    """What a file means by an address in PyTorch or in funtorch.

    Looked for at that very address, then in the packages around it. Raises NotImplementedError if it's nowhere.
    """
    for table in (_EXACT, _READ, _TRUSTED):
        if (module, name) in table:
            return table[module, name]
    if (module, name) in _HOLDERS:
        return importlib.import_module(_HOLDERS[module, name])
    if (module, name) == ("torch._C", "TensorBase"):
        return Tensor
    refuse_other_types(f"{module}.{name}")
    for inside, address in _INSIDE.items():
        if module == inside:
            module = address
    place = OURS + module[len(module.split(".", 1)[0]) :]
    while place:
        try:
            return _attribute(place, name)
        except LookupError:
            place = place.rpartition(".")[0]
    raise MissingError(NOT_HERE.format(module, name))


def _address(module: str, name: str) -> str:
    """The module in which PyTorch has a class or function of funtorch's."""
    if module.startswith("funtorch.nn.modules.") and name in _FILE_OF_LAYER:
        return f"torch.nn.modules.{_FILE_OF_LAYER[name]}"
    if name == "AdamW" and module == "funtorch.optim.adam":
        return "torch.optim.adamw"
    for start, address in _ADDRESSES.items():
        if module == start or module.startswith(start + "."):
            return address
    return THEIRS + module[len(OURS) :]


@functools.cache
def _functions() -> dict[int, tuple[str, str]]:
    """The public addresses of functions, by identity: what the op files call them inside may be another name."""
    found: dict[int, tuple[str, str]] = {}
    for address in _FUNCTIONS:
        module = importlib.import_module(OURS + address[len(THEIRS) :])
        public = {name: value for name, value in vars(module).items() if isinstance(value, FunctionType) and name[0] != "_"}
        for name, value in public.items():
            found.setdefault(id(value), (address, name))
    return found


def torch_name(value: Any) -> tuple[str, str] | None:
    """The address that PyTorch has for a class, a function or a dtype of funtorch; None for anything of others."""
    exact = _NAME_OF.get(id(value))
    if exact is not None:
        return exact
    if isinstance(value, dtype):
        return THEIRS, value.name
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module.split(".", 1)[0] != OURS:
        return None
    if isinstance(value, FunctionType) and id(value) in _functions():
        return _functions()[id(value)]
    address = _address(module, name)
    try:
        return (address, name) if resolve(address, name) is value else None
    except MissingError:
        return None
