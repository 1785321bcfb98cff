"""The one table from the IR's types to Python annotations, and schema defaults to Python; knows no expression."""

from __future__ import annotations

from gradspec.types import BaseType, ListType, OptionalType, Type

_ANNOTATIONS = {
    "Tensor": "Tensor", "int": "int", "SymInt": "int", "float": "float", "SymFloat": "float", "bool": "bool", "SymBool": "bool",
    "Scalar": "complex", "str": "str", "ScalarType": "torch.dtype", "Layout": "torch.layout", "Device": "torch.device",
    "MemoryFormat": "torch.memory_format", "Generator": "torch.Generator", "complex": "complex", "TensorOptions": "dict",
    "TensorInfo": "dict", "TensorGeometry": "tuple",
}  # fmt: skip

_DEFAULT_WORDS = {
    "None": "None", "True": "True", "False": "False", "Mean": "1", "Sum": "2", "contiguous_format": "torch.contiguous_format",
    "channels_last": "torch.channels_last", "channels_last_3d": "torch.channels_last_3d",
    "preserve_format": "torch.preserve_format", "strided": "torch.strided", "long": "torch.long", "float": "torch.float",
    "double": "torch.double", "int": "torch.int", "bool": "torch.bool", "half": "torch.half",
    "inf": 'float("inf")', "nan": 'float("nan")', "{}": "None",
}  # fmt: skip


def annotation(type_: Type) -> str:
    """The annotation of an argument."""
    match type_:
        case BaseType(name):
            return _ANNOTATIONS.get(name, "object")
        case OptionalType(elem):
            return f"{annotation(elem)} | None"
        case ListType(elem):
            inner = annotation(elem)
            return f"Sequence[{inner}]"


def default_text(type_: Type, text: str) -> str:
    """A schema's default as Python spells it; one value for a list of fixed length stands for all of it."""
    inner = type_.elem if isinstance(type_, OptionalType) else type_
    if text.startswith("["):
        items = [t.strip() for t in text[1:-1].split(",") if t.strip()]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if isinstance(inner, ListType) and text != "None":
        word = _DEFAULT_WORDS.get(text, text)
        items = [word] * (inner.size or 1)
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if text[:1] in "'\"":
        return repr(text[1:-1])
    return _DEFAULT_WORDS.get(text, text)
