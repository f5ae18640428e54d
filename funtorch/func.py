"""PyTorch's names for the transforms, and for branches and loops that become part of a program."""

from .transforms import (
    associative_scan,
    chunk_vmap,
    cond,
    debug_print,
    fori_loop,
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    map,
    scan,
    stack_module_state,
    switch,
    vjp,
    vmap,
    while_loop,
)

__all__ = [
    "associative_scan", "chunk_vmap", "cond", "debug_print", "fori_loop", "functional_call", "functionalize", "grad", "grad_and_value",
    "hessian", "jacfwd", "jacrev", "jvp", "linearize", "map", "scan", "stack_module_state", "switch", "vjp", "vmap",
    "while_loop",
]  # fmt: skip
