"""Python forms of what is no operator: metadata, scalars, options, lists, constants; knows no call of ATen."""

from __future__ import annotations

# Tensor methods and properties that only read what a tensor is: `{0}` is the tensor, `{1}` the first argument.
TENSOR_METADATA = {
    "dim": "{0}.dim()", "ndimension": "{0}.dim()", "numel": "{0}.numel()", "sym_numel": "{0}.numel()", "sizes": "{0}.shape",
    "sym_sizes": "{0}.shape", "size": "{0}.size({1})", "sym_size": "{0}.size({1})", "strides": "_strides_of({0})",
    "sym_strides": "_strides_of({0})", "sym_blocksize": "_blocksize_of({0})",
    "stride": "{0}.stride({1})", "sym_stride": "{0}.stride({1})",
    "storage_offset": "{0}.storage_offset()", "sym_storage_offset": "{0}.storage_offset()", "scalar_type": "{0}.dtype",
    "dtype": "{0}.dtype", "options": "_options_of({0})", "layout": "{0}.layout", "device": "{0}.device",
    "get_device": "{0}.get_device()", "is_conj": "{0}.is_conj()", "is_neg": "{0}.is_neg()", "is_cpu": "{0}.is_cpu",
    "is_cuda": "{0}.is_cuda", "is_xpu": "{0}.is_xpu", "is_mps": "{0}.is_mps", "is_meta": "{0}.is_meta",
    "is_sparse": "{0}.is_sparse", "is_sparse_csr": "{0}.is_sparse_csr", "is_mkldnn": "{0}.is_mkldnn",
    "is_quantized": "{0}.is_quantized", "is_nested": "{0}.is_nested", "is_complex": "{0}.is_complex()",
    "is_floating_point": "{0}.is_floating_point()", "suggest_memory_format": "_suggested_memory_format({0})",
    "element_size": "{0}.element_size()", "itemsize": "{0}.itemsize", "requires_grad": "{0}.requires_grad",
    "item": "{0}.item()", "is_leaf": "{0}.is_leaf", "tensor_data": "{0}.detach()", "variable_data": "{0}.detach()",
}  # fmt: skip

# Members of the other types, by type and name.
MEMBERS = {
    ("Scalar", "conj"): "{0}.conjugate()", ("Scalar", "toDouble"): "float({0})", ("Scalar", "toFloat"): "_to_float32({0})",
    ("Scalar", "toLong"): "int({0})", ("Scalar", "toInt"): "int({0})", ("Scalar", "toBool"): "bool({0})",
    ("Scalar", "toComplexDouble"): "complex({0})", ("Scalar", "toComplexFloat"): "complex({0})",
    ("Scalar", "isComplex"): "isinstance({0}, complex)", ("Scalar", "isFloatingPoint"): "isinstance({0}, float)",
    ("Scalar", "equal"): "({0} == {1})",
    ("Scalar", "isBoolean"): "isinstance({0}, bool)", ("Scalar", "toSymInt"): "int({0})",
    ("TensorOptions", "dtype"): '{{**{0}, "dtype": {1}}}', ("TensorOptions", "layout"): '{{**{0}, "layout": {1}}}',
    ("TensorOptions", "device"): '{{**{0}, "device": {1}}}', ("TensorInfo", "zeros"): "torch.zeros(**{0})",
    ("TensorGeometry", "sym_sizes"): "{0}[0]", ("TensorGeometry", "sym_strides"): "{0}[1]",
    ("TensorGeometry", "sym_storage_offset"): "{0}[2]",
    ("Device", "is_cpu"): '({0}.type == "cpu")', ("Device", "is_cuda"): '({0}.type == "cuda")',
    ("Device", "is_xpu"): '({0}.type == "xpu")', ("Device", "is_mps"): '({0}.type == "mps")',
    ("Device", "is_meta"): '({0}.type == "meta")', ("SymInt", "expect_int"): "int({0})", ("SymInt", "guard_int"): "int({0})",
}  # fmt: skip

LIST_MEMBERS = {"size": "len({0})", "vec": "{0}", "back": "{0}[-1]", "front": "{0}[0]"}

# Functions that are neither operators nor helpers.
FUNCTIONS = {
    "GradMode::is_enabled": "torch.is_grad_enabled()", "toNonOptTensor": "{0}", "sum_to": "{0}.sum_to_size({1})",
    "isDifferentiableType": "({0}.is_floating_point or {0}.is_complex)", "isFloatingType": "{0}.is_floating_point",
    "isComplexType": "{0}.is_complex", "toComplexType": "{0}.to_complex()", "toRealValueType": "{0}.to_real()",
}  # fmt: skip

CONSTANTS = {
    "M_PI": "math.pi", "M_PI_2": "(math.pi / 2)", "M_PI_4": "(math.pi / 4)", "M_1_PI": "(1 / math.pi)",
    "M_2_PI": "(2 / math.pi)", "M_2_SQRTPI": "(2 / math.sqrt(math.pi))", "M_E": "math.e", "M_LN2": "math.log(2)",
    "M_LN10": "math.log(10)", "M_LOG2E": "math.log2(math.e)", "M_LOG10E": "math.log10(math.e)", "M_SQRT2": "math.sqrt(2)",
    "M_SQRT1_2": "math.sqrt(0.5)", "INFINITY": "math.inf", "NAN": "math.nan", "nullopt": "None",
    "kCudnnDoubleBackwardMsg": '"double backward of cuDNN recurrent networks"',
    "Reduction::None": "0", "Reduction::Mean": "1", "Reduction::Sum": "2",
    "MemoryFormat::Contiguous": "torch.contiguous_format", "MemoryFormat::Preserve": "torch.preserve_format",
    "MemoryFormat::ChannelsLast": "torch.channels_last", "MemoryFormat::ChannelsLast3d": "torch.channels_last_3d",
    "kStrided": "torch.strided", "kSparse": "torch.sparse_coo", "kSparseCsr": "torch.sparse_csr",
    "kSparseCsc": "torch.sparse_csc", "kSparseBsr": "torch.sparse_bsr", "kSparseBsc": "torch.sparse_bsc",
    "kMkldnn": "torch._mkldnn", "kJagged": "torch.jagged", "kCPU": '"cpu"', "kCUDA": '"cuda"', "kMPS": '"mps"',
    "kXPU": '"xpu"', "kMeta": '"meta"', "kBool": "torch.bool", "kByte": "torch.uint8", "kChar": "torch.int8",
    "kShort": "torch.int16", "kInt": "torch.int32", "kLong": "torch.int64", "kHalf": "torch.float16",
    "kFloat": "torch.float32", "kDouble": "torch.float64", "kBFloat16": "torch.bfloat16",
    "kComplexHalf": "torch.complex32", "kComplexFloat": "torch.complex64", "kComplexDouble": "torch.complex128",
}  # fmt: skip


def constant(name: str) -> str | None:
    """A constant in Python, None where it has none."""
    bare = name.removeprefix("::")
    for prefix in ("at::", "c10::", "std::", "torch::"):
        bare = bare.removeprefix(prefix)
    kind, _, last = bare.rpartition("::")
    if kind == "ScalarType":
        bare = f"k{last}"
    return CONSTANTS.get(bare)


def number(text: str) -> str:
    """A C++ number in Python: without suffixes and digit separators."""
    plain = text.replace("'", "")
    if plain[:2].lower() == "0x" and "p" in plain.lower():
        return repr(float.fromhex(plain.rstrip("fFlL")))
    if plain[:2].lower() in ("0x", "0b"):
        return plain.rstrip("uUlLzZ")
    plain = plain.rstrip("uUlLfFzZ")
    if len(plain) > 1 and plain[0] == "0" and plain.isdigit():
        return f"0o{plain[1:]}"
    if plain.startswith("."):
        plain = f"0{plain}"
    return (
        plain.replace(".e", ".0e").replace(".E", ".0E")
        + ("0" if plain.endswith(".") else "")
        + (".0" if text[-1] in "fF" and plain.isdigit() else "")
    )
