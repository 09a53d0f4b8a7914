"""What the schemas do not say, each with its reason.

A name is listed here only when the rule that generate.py derives from the
schema gives another answer; generate.py refuses a name that does not exist.
"FACTS" below stands for the measurements of this project; "run" for
verify.cpp beside this file.
"""

import re

# Names with a leading underscore are LibTorch's own business, except methods of
# at::Tensor and these, which C++ users do call: fused and foreach updates of an
# optimizer or an average of weights, a GradScaler written by hand, and unique,
# whose documented C++ forms have an underscore.
PRIVATE_BUT_USED = re.compile(
    r"_(foreach|fused_(sgd|adam|adamw|adagrad)|amp)_\w*|_unique2?|_local_scalar_dense|_softmax|_log_softmax")

# Formulas of derivatives.yaml, not for users.
BACKWARD_ONLY = re.compile(r"\w+_backward(_\w+)?|\w+_jvp|_test_\w+")

# In native_functions.yaml only to be called from Python or from other formulas.
CPP_NAMES = {"_backward": "backward"}  # Tensor::backward wraps it (TensorBody.h)

# ---- View -------------------------------------------------------------------

# `Tensor(a)` in the schema over-approximates these: they return the input, or a
# view of it, only when there is nothing to do (libtorch-facts.md, section 3).
MAY_ALIAS = {
    "to": "a copy unless dtype, device and layout are already right",
    "contiguous": "a copy unless it is contiguous already",
    "reshape": "a copy where strides do not allow a view",
    "reshape_as": "reshape",
    "flatten": "reshape",
    "ravel": "contiguous and view",
    "pin_memory": "a copy unless it is pinned already",
    "resolve_conj": "a copy when the conjugate bit is set",
    "resolve_neg": "a copy when the negative bit is set",
    "coalesce": "a copy unless it is coalesced already",
    # Not annotated at all, yet the input or a view of it may come back.
    "type_as": "to",
    "index": "Tensor::index with slices and integers alone is a view",
    "sum_to_size": "a view of the input when no dimension is reduced",
    "einsum": "one operand and no reduction is a permuted view",
    "chain_matmul": "one matrix is returned as it is",
    "to_dense": "a dense tensor is returned as it is",
    "linalg_matrix_power": "power one",
    "matrix_power": "linalg_matrix_power",
    "align_tensors": "align_to, but unnamed tensors are expanded",
}
# Views for certain that the schema does not annotate, because the results are a
# list of inputs or because autograd is told not to treat them as views.
ALWAYS_ALIAS = {
    "align_as": "align_to",
    "broadcast_tensors": "expand",
    "meshgrid": "expand",
    "unsafe_split": "split without view tracking",
    "unsafe_split_with_sizes": "split_with_sizes without view tracking",
    "unsafe_chunk": "chunk without view tracking",
    "data": "the same storage without history",
}
# The tag maybe_aliasing_or_mutating also marks these, which only mutate.
NEVER_ALIAS = {"batch_norm": "tagged for its running statistics"}

# ---- Writes -----------------------------------------------------------------

# Write their running statistics in training without saying so in the schema.
WRITES_UNANNOTATED = {"batch_norm", "instance_norm", "native_batch_norm", "cudnn_batch_norm",
                      "miopen_batch_norm"}

# ---- Differentiable ---------------------------------------------------------

# Composite operations whose result never requires grad, by what they are made of.
NOT_CONNECTED = {
    "argwhere": "nonzero",
    "choose_qparams_optimized": "numbers in tensors",
    "data": "drops the history",
    "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne",
    "isclose": "comparisons", "isfinite": "comparisons", "isreal": "comparisons",
    "linalg_matrix_rank": "counts singular values above a tolerance",
    "nonzero_numpy": "nonzero",
    "detach": "drops the history",
    "detach_copy": "drops the history",
    "detach_": "drops the history",
}
# The result is connected or not, depending on dtype, arguments or overload.
MAYBE_CONNECTED = {
    "to": "a conversion to an integer type breaks the graph (libtorch-facts.md, section 3)",
    "type_as": "to",
}
# ---- Sync -------------------------------------------------------------------

MAY_SYNC = {
    "index": "only with a bool or byte mask",
    "index_put": "only with a bool or byte mask",
    "index_put_": "only with a bool or byte mask",
    "one_hot": "on CUDA only with num_classes = -1",
    "to": "a blocking copy to or from the host",
    "copy_": "a blocking copy to or from the host",
    "repeat_interleave": "repeats as a tensor without output_size",
    "where": "with one argument it is nonzero",
}
ALWAYS_SYNC = {
    "is_nonzero": "item()",
    "nonzero_numpy": "nonzero",
}
NEVER_SYNC = {}

# ---- Flags ------------------------------------------------------------------

LIKE_FACTORY = re.compile(r"\w+_like|new_\w+|empty_quantized")
DISCARDS_HISTORY = {"detach", "detach_", "detach_copy", "data", "item", "_local_scalar_dense", "is_nonzero"}
RESIZES = re.compile(r"(sparse_)?resize_\w*|set_|set_data")
CHANGES_DEVICE = {"to"}
CHANGES_DTYPE = {"to", "type_as"}

# ---- Names that exist in C++ headers only ------------------------------------

# TensorOperators.h and TensorBody.h: operators by the operation that they call.
OPERATORS = {
    "operator+": "add", "operator-": "sub", "operator*": "mul", "operator/": "div",
    "operator%": "remainder", "operator&": "bitwise_and", "operator|": "bitwise_or",
    "operator^": "bitwise_xor", "operator~": "bitwise_not",
    "operator<": "lt", "operator<=": "le", "operator>": "gt", "operator>=": "ge",
    "operator==": "eq", "operator!=": "ne",
    "operator+=": "add_", "operator-=": "sub_", "operator*=": "mul_", "operator/=": "div_",
    "operator&=": "bitwise_and_", "operator|=": "bitwise_or_", "operator^=": "bitwise_xor_",
}
# Written by hand in TensorBody.h and TensorBase.h. The columns are those of the table.
HAND_WRITTEN = {
    # `x[i]` is select; with a tensor as the index it calls item() first.
    "operator[]": ("Method", "Tensor", "Yes", "NoArgument", "Yes", "Maybe", []),
    # `x.to(device)` of one target; the copy to the host waits for the device.
    "cpu": ("Method", "Tensor", "Maybe", "NoArgument", "Yes", "Yes", ["ChangesDevice"]),
    "cuda": ("Method", "Tensor", "Maybe", "NoArgument", "Yes", "Maybe", ["ChangesDevice"]),
    "hip": ("Method", "Tensor", "Maybe", "NoArgument", "Yes", "Maybe", ["ChangesDevice"]),
    "toBackend": ("Method", "Tensor", "Maybe", "NoArgument", "Yes", "Maybe", ["ChangesDevice"]),
    "toType": ("Method", "Tensor", "Maybe", "NoArgument", "Maybe", "No", ["ChangesDtype"]),
    # data() with the version counter shared, or fresh (TensorBase.h).
    "tensor_data": ("Method", "Tensor", "Yes", "NoArgument", "No", "No", ["DiscardsHistory"]),
    "variable_data": ("Method", "Tensor", "Yes", "NoArgument", "No", "No", ["DiscardsHistory"]),
}
