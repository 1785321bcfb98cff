"""What people write out of habit from Python and C++, and what to write in its place; it parses nothing."""

from __future__ import annotations

from collections.abc import Mapping

_STATEMENTS = "a formula is one expression without variables: move more into a function of your own, declared with `extern`"

# Words that stand where an operator would.
_WORDS: Mapping[str, str] = {
    "if": "a choice is `test ? one : other`",
    "else": "a choice is `test ? one : other`",
    "and": "write `&&`",
    "or": "write `||`",
    "is": "whether a Tensor? is there says `x.defined()`, of other optional values `x.has_value()`",
    "@": "write `a.matmul(b)`",
}
# Words that stand before what they belong to.
_LEADING: Mapping[str, str] = {
    "not": "write `!`",
    "lambda": "a lambda is `[](T x) { return x; }`",
    "return": _STATEMENTS,
    "auto": _STATEMENTS,
    "const": _STATEMENTS,
    "Tensor": _STATEMENTS,
}
_ABSENT = "an absent Tensor? is one that is not `x.defined()`; other optional values have `x.has_value()`"
_FUNCTIONS = "functions of torch are written `at::name(...)`, those of numbers `std::name(...)`"
# Names that formulas do not know.
FOREIGN_NAMES: Mapping[str, str] = {
    "None": _ABSENT,
    "NULL": _ABSENT,
    "inf": "write `INFINITY`",
    "nan": "write `NAN`",
    "pi": "write `M_PI`",
    "torch": _FUNCTIONS,
    "math": _FUNCTIONS,
    "np": _FUNCTIONS,
    "F": _FUNCTIONS,
}
POWER = "a power is `x.pow(2)`"

_ATTRIBUTES: Mapping[str, str] = {
    "shape": "sym_sizes()",
    "T": "t()",
    "mT": "mT()",
    "ndim": "dim()",
    "dtype": "scalar_type()",
}
_MODULE_CONSTANTS: Mapping[str, str] = {"pi": "M_PI", "inf": "INFINITY", "nan": "NAN", "e": "M_E"}
_MODULES = ("math", "np", "numpy", "torch")
_CASTS = ("double", "float", "int", "long", "bool", "int64_t", "size_t")


def formula_help(text: str, at: int, found: str) -> str:
    """What to write in place of what cannot stand at a place of a formula; empty where no habit is known."""
    before = text[:at].rstrip()
    last = _last_word(before)
    if found in _WORDS:
        return _WORDS[found]
    if last in _LEADING and found != "(":
        return _LEADING[last]
    if before.endswith(")") and (cast := before[:-1].rstrip().rpartition("(")[2].strip()) in _CASTS:
        return f"write `static_cast<{cast}>(...)`"
    if found in (".", ":") and before.rpartition("[")[2].strip(" .:,0123456789-") == "" and "[" in before:
        return "parts are taken by methods: `x.select(dim, i)`, `x.narrow(dim, start, length)`"
    if found == "," and text[:at].count("[") > text[:at].count("]"):
        return "an index is one number; parts are taken by methods: `x.select(dim, i)`, `x.narrow(dim, start, length)`"
    if found == ":" and last and text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalpha():
        return f"a namespace ends in two colons: `{last}::{_first_word(text[at + 1 :])}`"
    if found == "," and _first_word(text[at + 1 :]) and "\n" in text[at + 1 : len(text) - len(text[at + 1 :].lstrip())]:
        return "a rule ends with `;`"
    return ""


def uncalled_member(text: str, at: int) -> tuple[int, int, str] | None:
    """The place of a member without its call that ends before `at`, and what to write; None where there is none."""
    before = text[:at].rstrip()
    name = _last_word(before)
    start = len(before) - len(name)
    owner = before[:start].rstrip()
    if not name or not owner.endswith((".", "->")) or name[0].isdigit():
        return None
    owner = owner.removesuffix(".").removesuffix("->")
    if _last_word(owner) in _MODULES and name in _MODULE_CONSTANTS:
        return start, len(before), f"write `{_MODULE_CONSTANTS[name]}`"
    return start, len(before), f"write `{_ATTRIBUTES.get(name, f'{name}()')}`"


FOREIGN_TYPES: Mapping[str, str] = {
    "TensorList": "Tensor[]",
    "ITensorListRef": "Tensor[]",
    "IntArrayRef": "int[]",
    "SymIntArrayRef": "SymInt[]",
    "int64_t": "int",
    "double": "float",
    "string": "str",
    "tensor": "Tensor",
    "number": "Scalar",
}
_GENERIC = {"Optional": "Tensor?", "List": "Tensor[]", "Sequence": "Tensor[]", "optional": "Tensor?", "vector": "Tensor[]"}


def schema_help(text: str, at: int, found: str) -> str:
    """The same for a schema."""
    before = text[:at].rstrip()
    last = _last_word(before)
    if before.endswith(")") and found in ("=", ":"):
        return "what an op gives stands behind `->`"
    if found in ("[", "<") and last in _GENERIC:
        return f"write `{_GENERIC[last]}`"
    if text.startswith("::", at):
        known = next((v for k, v in _GENERIC.items() if _first_word(text[at + 2 :]) == k), "Tensor")
        return f"types are those of the schema language, such as `{known}`"
    if found == ":":
        return f"the type comes first: `{_first_word(text[at + 1 :]) or 'Tensor'} {last}`"
    if found == "=":
        return f"each argument has a type: `int {last}=...`"
    if found == "&" or last == "const" or _last_word(before[: len(before) - len(last)].rstrip()) == "const":
        return "types stand without `const` and `&`: `Tensor a`"
    if found.isidentifier() and last and not before.endswith(","):
        return "is a `,` missing before it?"
    return ""


def spec_help(text: str) -> str:
    """What to say of a .grad file that is another kind of file; empty where it is none."""
    if text.lstrip().startswith(("- name:", "- func:", "---")):
        return "this is YAML: let the file's name end in .yaml; `gradspec import` makes .grad text of it"
    return ""


def yaml_help(text: str, path: str) -> str:
    """What to say of a YAML file that is another kind of file; empty where it is none."""
    if text.lstrip().startswith(("op ", "library ", "extern ", "//")):
        return "if it is in the .grad language, let the file's name end in .grad"
    if not path.endswith((".yaml", ".yml")):
        return "a file whose name does not end in .grad is read as a derivatives.yaml"
    return ""


def _last_word(text: str) -> str:
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:]


def _first_word(text: str) -> str:
    stripped = text.lstrip()
    end = 0
    while end < len(stripped) and (stripped[end].isalnum() or stripped[end] == "_"):
        end += 1
    return stripped[:end]
