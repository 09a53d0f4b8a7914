"""What the schemas do not say, each with its reason.

A name is listed here only when the rule that generate.py derives from the
schema gives another answer; generate.py refuses a name that does not exist.
"(run)" marks what was seen when the operation was run (README.md tells how).
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

# Rare overloads that would turn Differentiable into Maybe, or take the flag
# Factory away, for a name which people use otherwise: not counted in these two
# columns. Who sees such a call can tell it by its arguments or result type.
SET_ASIDE = {
    "view.dtype": "view(dtype) reinterprets the bits and is never connected",
    "view_copy.dtype": "view.dtype",
    "where": "where(condition) returns a vector of indices (nonzero)",
    "linspace.Tensor_Tensor": "limits as tensors", "linspace.Tensor_Scalar": "limits as tensors",
    "linspace.Scalar_Tensor": "limits as tensors",
    "logspace.Tensor_Tensor": "limits as tensors", "logspace.Tensor_Scalar": "limits as tensors",
    "logspace.Scalar_Tensor": "limits as tensors",
}

# ---- View -------------------------------------------------------------------

# `Tensor(a)` in the schema over-approximates the first group: they return the
# input, or a view of it, only when there is nothing to do (libtorch-facts.md,
# section 3). The second group is not annotated at all.
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
    "_autocast_to_full_precision": "to",
    "_autocast_to_reduced_precision": "to",

    "type_as": "to",
    "index": "Tensor::index with slices and integers alone is a view",
    "sum_to_size": "the input when no dimension is reduced (run)",
    "einsum": "one operand and no reduction is a permuted view (run)",
    "to_dense": "a dense tensor is returned as it is (run)",
    "to_sparse": "a tensor of that layout is returned as it is (run)",
    "dequantize": "to(float) of what is not quantized (run)",
    "flatten_dense_tensors": "one tensor is only reshaped (run)",
}
# Views for certain that the schema does not annotate, or tags as uncertain.
ALWAYS_ALIAS = {
    "align_as": "align_to",
    "align_tensors": "align_to (run)",
    "atleast_1d": "a view of the input or the input (run)",
    "atleast_2d": "atleast_1d",
    "atleast_3d": "atleast_1d",
    "broadcast_tensors": "expand",
    "meshgrid": "expand",
    "unflatten_dense_tensors": "narrow and view (run)",
    "unsafe_split": "split without view tracking",
    "unsafe_split_with_sizes": "split_with_sizes without view tracking",
    "unsafe_chunk": "chunk without view tracking",
    "data": "the same storage without history",
    "lift": "the input, outside functorch (run)",
}
NEVER_ALIAS = {
    "batch_norm": "tagged maybe_aliasing_or_mutating for its running statistics",
}

# ---- Writes -----------------------------------------------------------------

# Write their running statistics in training without saying so in the schema.
WRITES_UNANNOTATED = {"batch_norm", "instance_norm", "native_batch_norm", "cudnn_batch_norm",
                      "miopen_batch_norm"}

# ---- Differentiable ---------------------------------------------------------

# Without output_differentiability in derivatives.yaml and not in torchgen's own
# list, yet the result never requires grad.
NOT_CONNECTED = {
    # They drop the history.
    "data": "TensorBase::data", "detach": "its purpose", "detach_": "its purpose",
    # Compositions of comparisons and counts.
    "argwhere": "nonzero", "nonzero_numpy": "nonzero", "nonzero_static": "nonzero",
    "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne",
    "isclose": "comparisons", "isfinite": "comparisons", "isreal": "comparisons",
    "linalg_matrix_rank": "counts singular values above a tolerance",
    # Take and give integers only, and integers never require grad.
    "bitwise_and": "integers", "bitwise_or": "integers", "bitwise_xor": "integers",
    "bitwise_not": "integers", "bitwise_left_shift": "integers",
    "bitwise_right_shift": "integers", "gcd": "integers", "lcm": "integers",
    "int_repr": "integers",
    # Packed weights and parameters of quantization.
    "choose_qparams_optimized": "two numbers", "fbgemm_linear_quantize_weight": "packed",
    "fbgemm_pack_gemm_matrix_fp16": "packed", "fbgemm_pack_quantized_matrix": "packed",
    # Constructors that autograd does not see (run).
    "sparse_csr_tensor": "no formula", "sparse_csc_tensor": "no formula",
    "sparse_bsr_tensor": "no formula", "sparse_bsc_tensor": "no formula",
}
# The result is connected or not, depending on dtype or arguments.
MAYBE_CONNECTED = {
    "to": "a conversion to an integer type breaks the graph (libtorch-facts.md, section 3)",
    "type_as": "to",
    "sparse_coo_tensor": "at::sparse_coo_tensor is, torch::sparse_coo_tensor is not (run)",
}

# ---- Sync -------------------------------------------------------------------

# Names stand for their in-place variants, too.
MAY_SYNC = {
    # Tagged, but not always (libtorch-facts.md, section 3).
    "index": "only with a bool or byte mask",
    "one_hot": "on CUDA only with num_classes = -1",
    "repeat_interleave": "repeats as a tensor, without output_size",
    # Untagged. A blocking copy to or from the host waits.
    "copy": "a blocking copy to or from the host", "_foreach_copy": "copy",
    "index_put": "with a bool or byte mask",
    "to": "a blocking copy to or from the host",
    "type_as": "to",
    "where": "where(condition) is nonzero",
    # An argument that may be a tensor is read with item() (run).
    "ctc_loss": "lengths as tensors are copied to the host",
    "index_fill": "the value as a tensor", "masked_fill": "the value as a tensor",
    "linspace": "the limits as tensors", "logspace": "the limits as tensors",
    "narrow": "the start as a tensor", "randint_like": "the limit as a tensor",
    "normal": "the minimum of std as a tensor is checked (documentation of torch.normal)",
    "multinomial": "the probabilities are checked with item() before _assert_async was used",
    "histc": "the limits are taken from the data when they are equal (run)",
    "segment_reduce": "the lengths are checked unless unsafe (run)",
    "sparse_coo_tensor": "without a size it is taken from the indices",
    "sparse_csr_tensor": "sparse_coo_tensor", "sparse_csc_tensor": "sparse_coo_tensor",
    "sparse_bsr_tensor": "sparse_coo_tensor", "sparse_bsc_tensor": "sparse_coo_tensor",
    "coalesce": "unless it is coalesced already",
    # "synchronizes only when check_errors = True" (documentation of torch.linalg).
    "linalg_cholesky_ex": "check_errors", "linalg_inv_ex": "check_errors",
    "linalg_ldl_factor_ex": "check_errors", "linalg_lu_factor_ex": "check_errors",
    "linalg_solve_ex": "check_errors",
    # Some of their modes are one of the decompositions below.
    "linalg_cond": "svd or inv", "linalg_norm": "svd", "linalg_matrix_norm": "svd",
    "linalg_matrix_power": "inv", "matrix_power": "inv",
}
ALWAYS_SYNC = {
    "is_nonzero": "item()", "_is_all_true": "item()", "_is_any_true": "item()",
    "nonzero_numpy": "nonzero", "combinations": "masked_select", "_unique": "its size is read",
    "cov": "checks its degrees of freedom with item() (run)", "corrcoef": "cov",
    "istft": "checks the window with item() (run)",
    "embedding_renorm": "unique",
    "to_sparse": "nonzero", "to_sparse_csr": "nonzero", "to_sparse_csc": "nonzero",
    "to_sparse_bsr": "nonzero", "to_sparse_bsc": "nonzero",
    "_to_sparse": "nonzero", "_to_sparse_csr": "nonzero", "_to_sparse_csc": "nonzero",
    "_to_sparse_bsr": "nonzero", "_to_sparse_bsc": "nonzero",
    "matrix_exp": "the norm decides about the degree (run)", "linalg_matrix_exp": "matrix_exp",
    # "synchronizes that device with the CPU" (documentation of torch.linalg), and
    # what is made of these; the others check for errors in the same way.
    "linalg_cholesky": "documented", "linalg_eig": "documented", "linalg_eigh": "documented",
    "linalg_eigvals": "documented", "linalg_eigvalsh": "documented", "linalg_inv": "documented",
    "linalg_ldl_factor": "documented", "linalg_lu_factor": "documented",
    "linalg_matrix_rank": "documented", "linalg_solve": "documented",
    "linalg_svdvals": "documented", "linalg_svd": "checks for errors",
    "cholesky": "checks for errors", "inverse": "linalg_inv", "linalg_pinv": "svd",
    "pinverse": "svd", "svd": "linalg_svd", "nuclear_norm": "svd",
    "linalg_tensorinv": "inv", "linalg_tensorsolve": "solve",
}

# In-place variants whose arguments cannot be those of the functional ones.
NEVER_SYNC = {"normal_": "mean and std are numbers"}

# ---- Flags ------------------------------------------------------------------

LIKE_FACTORY = re.compile(r"\w+_like|new_\w+|empty_quantized")
DISCARDS_HISTORY = {"detach", "detach_", "data", "item", "_local_scalar_dense", "is_nonzero"}
RESIZES = re.compile(r"(sparse_)?resize_\w*|set_|set_data")
CHANGES_DEVICE = {"to", "type_as"}
CHANGES_DTYPE = {"to", "type_as"}

# ---- Names that exist in C++ headers only ------------------------------------

# TensorOperators.h and TensorBody.h: operators by the operation that they call.
OPERATORS = {
    "operator+": ("add", "Function"),
    "operator-": ("sub", "Method | Function"),  # unary (neg) is a method
    "operator*": ("mul", "Function"), "operator/": ("div", "Function"),
    "operator%": ("remainder", "Function"),
    "operator&": ("bitwise_and", "Function"), "operator|": ("bitwise_or", "Function"),
    "operator^": ("bitwise_xor", "Function"), "operator~": ("bitwise_not", "Method"),
    "operator<": ("lt", "Function"), "operator<=": ("le", "Function"),
    "operator>": ("gt", "Function"), "operator>=": ("ge", "Function"),
    "operator==": ("eq", "Function"), "operator!=": ("ne", "Function"),
    "operator+=": ("add_", "Method"), "operator-=": ("sub_", "Method"),
    "operator*=": ("mul_", "Method"), "operator/=": ("div_", "Method"),
    "operator&=": ("bitwise_and_", "Method"), "operator|=": ("bitwise_or_", "Method"),
    "operator^=": ("bitwise_xor_", "Method"),
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
    # torch::tensor({...}) copies from the host, torch::from_blob borrows its memory.
    "tensor": ("Function", "Tensor", "No", "NoArgument", "No", "Maybe", ["Factory", "Allocates"]),
    "from_blob": ("Function", "Tensor", "No", "NoArgument", "No", "No", ["Factory"]),
}
