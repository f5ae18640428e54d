"""Known differences: what is not expected to equal PyTorch, and why. Each is counted and printed, never hidden.

An excused pair that passes all the same counts as passed, and is listed so that its line here can go.
"""

from __future__ import annotations

from fnmatch import fnmatch

UNPOOL = "repeated indices: PyTorch's derivatives count values that were overwritten"

# (op, column, reason); patterns as in file names.
EXCEPTIONS = (
    ("jiterator_*", "*", "compiles CUDA source text"),
    ("torch.ops.aten.*", "*", "an internal kernel without a public name"),
    ("torch._scaled_mm*", "*", "an internal float8 kernel of CUDA"),
    ("_*_backward_data", "*", "an internal backward kernel"),
    ("native_dropout_backward", "*", "an internal backward kernel"),
    ("max_pool2d_with_indices_backward", "*", "an internal backward kernel"),
    ("_batch_norm_with_update", "*", "an internal kernel without a public name"),
    ("_upsample_bilinear2d_aa", "*", "an internal kernel without a public name"),
    ("__r*__", "errors", "calls the unbound method on two plain numbers"),
    ("argwhere", "vmap", "the result's size depends on values: nonzero_static and size= are the sized forms"),
    ("bincount", "vmap", "the result's size depends on values: nonzero_static and size= are the sized forms"),
    ("nonzero", "vmap", "the result's size depends on values: nonzero_static and size= are the sized forms"),
    ("repeat_interleave", "vmap", "the result's size depends on values: nonzero_static and size= are the sized forms"),
    ("nn.functional.max_unpool[123]d", "grad*", UNPOOL),
    ("nn.functional.max_unpool[123]d", "jvp", UNPOOL),
    ("as_strided_scatter", "*grad*", "a scalar source: PyTorch's gradient reaches the element that it overwrites"),
    ("nn.functional.linear_cross_entropy.chunked*", "gradgrad", "PyTorch's chunked form has no second derivative, and says 0"),
    ("chalf", "*", "complex32: neither NumPy nor JAX has such a type"),
    ("slice", "*", "an internal kernel: users write x[a:b]"),
    ("linalg.norm.subgradients_at_zero", "gradgrad", "0 at the kink, where PyTorch gives NaN"),
    ("sparse.sampled_addmm", "grad:*", "a sparse Tensor's gradient is sparse; PyTorch hands the dense cotangent on as it is"),
    ("masked.logaddexp", "gradgrad", "0 where both elements count as -inf, where PyTorch gives NaN"),
)

# With torch as the candidate (which proves the harness): where PyTorch's own transforms fall short of the answer
# that the harness gets from a loop over lanes, or from two reverse passes.
TORCH_ITSELF = (
    ("addbmm", "inplace", "resizes its tensor before it refuses"),
    ("as_strided*", "vmap", "strides of a stacked tensor differ from those of its lanes"),
    ("index_fill", "vmap", "a wrong value where the last axis is batched"),
    ("linalg.pinv", "vmap", "a batch of empty matrices loses its lanes"),
    ("tensor_split", "jvp", "reads the storage of a tensor of split points"),
    ("nn.functional.linear_cross_entropy*", "jvp", "gives zero"),
    ("scatter_reduce.prod", "jvp", "gives zero"),
    ("cholesky", "jvp", "no forward derivative"),
    ("nn.functional.scaled_dot_product_attention", "jvp", "no forward derivative"),
    ("ormqr", "jvp", "no forward derivative"),
    ("index_reduce.*", "jvp", "no forward derivative"),
    ("to_sparse", "jvp", "no forward derivative"),
    ("native_dropout_backward", "jvp", "no forward derivative"),
    ("*grid_sample*", "jvp", "no forward derivative"),
)

# Error inputs that cannot be wrong here: (part of PyTorch's message, reason).
ERROR_INPUTS = (
    ("unsupported operation", "two tensors that overlap in memory: arrays are immutable, and nothing is overwritten"),
    ("refer to a single memory location", "memory that overlaps itself: arrays are immutable"),
)

# Where more than the usual rounding is granted: (op, column, factor on the tolerance, reason).
LOOSER = (
    ("linalg.pinv*", "*", 1e3, "a product with an inverse: the samples have condition numbers of about 1e3"),
    ("svd_lowrank", "*", 1e3, "an iteration from a random start, stopped early"),
    ("pca_lowrank", "*", 1e3, "an iteration from a random start, stopped early"),
    ("Muon", "optim.*", 1e4, "orthogonalises in bfloat16"),
    ("LBFGS", "optim.*", 1e3, "twenty iterations, each of which multiplies the rounding of the last"),
    ("cholesky_inverse", "jvp", 1e4, "PyTorch's forward derivative is off by 9e-6 (measured against differences)"),
    ("special.bessel_[jy][01]", "*", 1e3, "PyTorch's approximation is off by up to 9e-7 (measured against SciPy)"),
)


def excuse(name: str, column: str, candidate: str) -> str | None:
    """The reason why this pair may differ, or None."""
    table = EXCEPTIONS + TORCH_ITSELF if candidate == "torch" else EXCEPTIONS
    reasons = [reason for op, col, reason in table if fnmatch(name, op) and fnmatch(column, col)]
    return reasons[0] if reasons else None


def excuse_error_input(message: str) -> str | None:
    """The reason why an input with this expected message need not raise, or None."""
    return next((reason for part, reason in ERROR_INPUTS if part in message), None)


def looseness(name: str, column: str) -> float:
    """The factor on the tolerances of this pair's results."""
    return max((f for op, col, f, _ in LOOSER if fnmatch(name, op) and fnmatch(column, col)), default=1.0)
