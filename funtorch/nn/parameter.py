"""Tensors that a Module owns: parameters, buffers, and both of a shape that isn't known yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ..core.handle import make
from ..core.pytree import register_pytree
from ..errors import ArgumentValueError, MissingError, OpError
from ..layouts import strided
from ..ops.creation import empty
from ..tensor import Tensor

if TYPE_CHECKING:
    from ..devices import device as Device
    from ..dtypes import dtype as DType

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]

NO_SPARSE = (
    "Parameter(data): data has the layout {}, and a Parameter is dense, here. Keep its values() as a Parameter, and make the "
    "sparse Tensor in forward: torch.sparse_coo_tensor(indices, values, size)."
)
NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
    "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. "
    "Call `forward` to initialize the parameters before accessing their attributes."
)
NO_SHARING = (
    "Can't share memory on an uninitialized parameter or buffer. "
    "Call `forward` to initialize the parameters before calling `module.share_memory()`."
)
NO_VALUES = (
    "Attempted to use an uninitialized parameter: this {} has no values yet. When using LazyModules call "
    "`forward` with a dummy batch to initialize the parameters; otherwise call its `materialize(shape)`."
)


class Parameter(Tensor):
    """A Tensor that a Module trains: assigned as a Module's attribute, it is among its `parameters()`.

    Args:
        data: the values (*), a floating point or complex Tensor; taken without their history. None: empty.
        requires_grad: whether gradients are recorded for it.

    Raises:
        RuntimeError: `requires_grad` for integers.

    Example:
        >>> import funtorch
        >>> Parameter(funtorch.zeros(2))
        Parameter containing:
        tensor([0., 0.], requires_grad=True)
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is not None and data.layout is not strided:
            raise MissingError(NO_SPARSE.format(data.layout))
        return Tensor._make_subclass(cls, empty(0) if data is None else data, requires_grad)

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        # All is done by __new__; this takes the arguments, so that Tensor's own __init__ does not read them.
        pass

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        register_pytree(cls)

    # mypy drops the names of a special method's arguments.
    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__(tensor_contents=tensor_contents)  # type: ignore[call-arg]

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = Tensor._make_subclass(type(self), self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __copy__(self) -> Parameter:
        return Tensor._make_subclass(type(self), self, self.requires_grad)


class Buffer(Tensor):
    """A Tensor of a Module's state that isn't trained: assigned as an attribute, it is among its `buffers()`.

    Args:
        data: the values (*), of any dtype. None: empty.
        persistent: whether `Module.state_dict` contains it.

    Example:
        >>> import funtorch
        >>> module = funtorch.nn.Module(); module.mean = Buffer(funtorch.zeros(2))
        >>> list(module.state_dict())
        ['mean']
    """

    persistent: bool = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        register_pytree(cls)

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        data = empty(0) if data is None else data
        buffer = Tensor._make_subclass(cls, data, data.requires_grad)
        buffer.persistent = persistent
        return buffer

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        # See Parameter.__init__.
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Buffer:
        if id(self) not in memo:
            copy = Tensor._make_subclass(type(self), self.detach().clone(), self.requires_grad)
            copy.persistent = self.persistent
            memo[id(self)] = copy
        return memo[id(self)]


register_pytree(Parameter)
register_pytree(Buffer)


class UninitializedTensorMixin:
    """What `UninitializedParameter` and `UninitializedBuffer` share: a dtype, a device, no values."""

    cls_to_become: type[Tensor]

    def materialize(self, shape: Sequence[int], device: Device | str | None = None, dtype: DType | None = None) -> None:
        """Becomes an ordinary parameter or buffer of this shape, with arbitrary values.

        Args:
            shape: the sizes.
            device: where; None: where it is.
            dtype: of what type; None: its own.
        """
        old = self.data
        self.data = empty(tuple(shape), device=old.device if device is None else device, dtype=dtype or old.dtype)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]  # it ceases to be of this class

    # The core reads a Tensor's `_payload` and nothing else, so this one property keeps every operation out.
    @property
    def _payload(self) -> Any:
        raise ArgumentValueError(NO_VALUES.format(type(self).__name__))

    @_payload.setter
    def _payload(self, payload: Any) -> None:
        self.__dict__["_payload"] = payload

    @property
    def data(self) -> Tensor:
        return make(self.__dict__["_payload"])

    @data.setter
    def data(self, new: Tensor) -> None:
        self.__dict__["_payload"] = new._payload

    @property
    def dtype(self) -> DType:
        return self.data.dtype

    @property
    def device(self) -> Device:
        return self.data.device

    @property
    def shape(self) -> NoReturn:
        raise OpError(NO_SHAPE)

    @property
    def is_leaf(self) -> bool:
        return True

    @property
    def grad_fn(self) -> None:
        return None

    def is_floating_point(self) -> bool:
        return self.data.is_floating_point()

    def is_complex(self) -> bool:
        return self.data.is_complex()

    def share_memory_(self) -> Tensor:
        raise OpError(NO_SHARING)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            reduced: Any = self.__reduce_ex__(4)
            build, arguments = reduced
            memo[id(self)] = build(*arguments)
        return memo[id(self)]


def _on_data(name: str) -> Callable:
    def move(self: UninitializedTensorMixin, *args: Any, **kwargs: Any) -> Tensor:
        return getattr(self.data, name)(*args, **kwargs)

    move.__name__ = name
    move.__doc__ = f"The same as `Tensor.{name}`, of a Tensor without elements."
    return move


# Moves and conversions are allowed: a Module may be sent to a device before its first call.
for _name in ("to", "cpu", "cuda", "half", "bfloat16", "float", "double", "type"):
    setattr(UninitializedTensorMixin, _name, _on_data(_name))


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]  # __repr__: see Parameter
    """A Parameter whose shape is known later, when `materialize` is called.

    Args:
        requires_grad: whether gradients will be recorded for it.
        device: where it will be.
        dtype: the type of its elements; None: the default.

    Example:
        >>> p = UninitializedParameter(); p.materialize((2, 3)); p.shape
        torch.Size([2, 3])
    """

    cls_to_become = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: Device | str | None = None, dtype: DType | None = None
    ) -> UninitializedParameter:
        return Tensor._make_subclass(cls, empty(0, device=device, dtype=dtype), requires_grad)

    def __init__(self, requires_grad: bool = True, device: Device | str | None = None, dtype: DType | None = None) -> None:
        # See Parameter.__init__.
        pass

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable, tuple]:
        return type(self), (self.requires_grad, self.device, self.dtype)


class UninitializedBuffer(UninitializedTensorMixin, Buffer):  # type: ignore[misc]  # __repr__: see Parameter
    """A Buffer whose shape is known later, when `materialize` is called.

    Args:
        requires_grad: whether gradients will be recorded for it.
        device: where it will be.
        dtype: the type of its elements; None: the default.
        persistent: whether `Module.state_dict` contains it.

    Example:
        >>> b = UninitializedBuffer(); b.materialize((2,)); b.shape
        torch.Size([2])
    """

    cls_to_become = Buffer

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:
        buffer = Tensor._make_subclass(cls, empty(0, device=device, dtype=dtype), requires_grad)
        buffer.persistent = persistent
        return buffer

    def __init__(
        self,
        requires_grad: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
        persistent: bool = True,
    ) -> None:
        # See Parameter.__init__.
        pass

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable, tuple]:
        return type(self), (self.requires_grad, self.device, self.dtype, self.persistent)


def is_lazy(tensor: object) -> bool:
    """Whether a Tensor is an uninitialised parameter or buffer."""
    return isinstance(tensor, UninitializedTensorMixin)
