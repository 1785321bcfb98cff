"""What people write out of habit from Python and C++, and what to write in its place; it parses nothing."""

from __future__ import annotations

from collections.abc import Mapping

_STATEMENTS = "a formula is one expression without variables: move more into a function, `fn name(Tensor x) -> Tensor { ... }`"
_FOLD = "a fold is `fold(acc = START; x in LIST; EXPR)`"
RESULT_HELP = "a function ends with `return EXPR;`"

# Words that stand where an operator would.
_WORDS: Mapping[str, str] = {
    "if": "a choice is `test ? one : other`",
    "else": "a choice is `test ? one : other`",
    "and": "write `&&`",
    "or": "write `||`",
    "is": "whether a Tensor? is there says `x.defined()`, of other optional values `x.has_value()`",
    "@": "write `a.matmul(b)`",
    "for": "a list made of another one is `[EXPR for x in LIST]`",
    "as": "a cast is `static_cast<int64_t>(n)`, of a tensor `x.to(dtype)`",
}
# Words that stand before what they belong to.
_LEADING: Mapping[str, str] = {
    "not": "write `!`",
    "lambda": "a lambda is `[](T x) { return x; }`",
    "return": _STATEMENTS,
    "auto": _STATEMENTS,
    "const": _STATEMENTS,
    "Tensor": _STATEMENTS,
    "let": "`let name = EXPR;` is a statement of its own",
    "new": "values need no `new`",
    "await": "there is nothing to wait for",
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
# Functions that formulas do not know.
FOREIGN_FUNCTIONS: Mapping[str, str] = {
    "len": "the length of a list is `xs.size()`, that of a tensor along a dimension `x.sym_size(0)`",
    "enumerate": "positions beside elements are `for i, x in zip(range(xs.size()), xs)`",
    "isinstance": "types are known from the header; whether a Tensor? is there says `x.defined()`",
    "reversed": "a list is walked from its front; the last element is `xs.back()`",
    "map": "a list made of another one is `[EXPR for x in LIST]`",
    "filter": "some elements of a list are `[x for x in LIST if COND]`",
    "reduce": _FOLD,
    "append": "a list is made whole, `[EXPR for x in LIST]`, and not changed",
}
# Methods of lists that are none here.
LIST_METHODS: Mapping[str, str] = {
    **dict.fromkeys(("append", "push_back", "emplace_back", "insert", "extend", "reserve"), FOREIGN_FUNCTIONS["append"]),
    **{name: FOREIGN_FUNCTIONS[name] for name in ("map", "filter", "reduce", "len", "enumerate")},
    "length": FOREIGN_FUNCTIONS["len"],
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
_DTYPES: Mapping[str, str] = {
    "float32": "at::kFloat", "float": "at::kFloat", "float64": "at::kDouble", "double": "at::kDouble", "float16": "at::kHalf",
    "bfloat16": "at::kBFloat16", "int64": "at::kLong", "long": "at::kLong", "int32": "at::kInt", "bool": "at::kBool",
    "uint8": "at::kByte", "complex64": "at::kComplexFloat", "complex128": "at::kComplexDouble",
}  # fmt: skip
_MODULES = ("math", "np", "numpy", "torch")
_CASTS = ("double", "float", "int", "long", "bool", "int64_t", "size_t")


def formula_help(text: str, at: int, found: str) -> str:
    """What to write in place of what cannot stand at a place of a formula; empty where no habit is known."""
    before = text[:at].rstrip()
    last = _last_word(before)
    opened, owner = _around(text, at)
    if owner == "fold":
        return _FOLD
    if found == "'":
        return 'strings stand in double quotes: "text"'
    if found == "=":
        called = opened == "(" and owner and _last_word(before) and text[at + 1 : at + 2] != "="
        return "arguments are given by position alone" if called else "a formula cannot assign; compare with =="
    if opened == "[" and not owner:
        return _made_list_help(before, found)
    if found == ")" and before.endswith(("(", ",")):
        part = "a tuple has two parts or more: `(a, b)`; `Tensor()` is an undefined tensor"
        return "no `,` stands behind the last argument" if owner else part
    if found in _WORDS:
        return _WORDS[found]
    if last == "fold":
        return _FOLD
    if found == ";" and before.endswith("[]"):
        return "an empty list is `{}`"
    if last in _LEADING and found != "(" and not (last == "return" and before.startswith(("return", "if"))):
        return _LEADING[last]
    if found == ":" and opened == "(" and owner:
        return "arguments are given by position alone"
    if found in (";", ")") and _asks(before):
        return "a choice is `test ? one : other`"
    if found in (";", ")") and before.endswith(("++", "--")):
        return "nothing is counted up in place: write `n + 1`"
    if before.endswith(")") and (cast := before[:-1].rstrip().rpartition("(")[2].strip()) in _CASTS:
        return f"write `static_cast<{cast}>(...)`"
    if found in (".", ":") and before.rpartition("[")[2].strip(" .:,0123456789-") == "" and "[" in before:
        return "parts are taken by methods: `x.select(dim, i)`, `x.narrow(dim, start, length)`"
    if found == "," and opened == "[":
        return "an index is one number; parts are taken by methods: `x.select(dim, i)`, `x.narrow(dim, start, length)`"
    if found == ":" and last and text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalpha():
        return f"a namespace ends in two colons: `{last}::{_first_word(text[at + 1 :])}`"
    if found == "," and _first_word(text[at + 1 :]) and "\n" in text[at + 1 : len(text) - len(text[at + 1 :].lstrip())]:
        return "a rule ends with `;`"
    return ""


def _asks(text: str) -> bool:
    """Whether a `?` is open at the end of a text that has none of its `:`."""
    plain = text.replace("::", "")
    return plain.count("?") > plain.count(":")


def _made_list_help(before: str, found: str) -> str:
    """What to write in place of brackets that index nothing."""
    words = before.split()
    if "for" not in words:
        return "a list is `{a, b}`, one made of another `[EXPR for x in LIST]`"
    if found == "for":
        return "one list is walked, or several side by side: `for x, y in zip(xs, ys)`"
    if found == "(" and words[-1] in ("for", ","):
        return "names stand without brackets: `for x, y in zip(xs, ys)`"
    if found == "else":
        return "which elements there are says `if`; for a choice write `[test ? one : other for x in LIST]`"
    return ""


def ending_help(text: str) -> str:
    """What to say of a formula that ends too early; empty where no habit is known."""
    remark = text[text.rfind("\n") + 1 :].rpartition("//")
    return "`//` begins a comment; numbers are divided by `/`" if remark[1] and remark[0].strip() else ""


_LET = "a name for a value is `let name = EXPR;`, without a type"
_NO_LOOP = "there are no loops: `[EXPR for x in LIST]` makes a list, `fold(acc = START; x in LIST; EXPR)` one value"
_NO_ITEM = "functions and ops stand beside each other"
_RAISE = 'what cannot be computed is `if (COND) return not_implemented("name", "reason");`'
_PARTS = "a function is made of `let name = EXPR;`, `if (COND) return EXPR;` and at its end `return EXPR;`"
_FUNCTION_WORDS = ("def", "func", "function", "fun", "static", "inline", "void", "Tensor", "auto", "template")
# Words that begin a statement elsewhere.
_BEGINNINGS: Mapping[str, str] = {
    **dict.fromkeys(("for", "while", "do", "break", "continue"), _NO_LOOP),
    **dict.fromkeys(("fn", "op", "def", "lambda", "func", "function"), _NO_ITEM),
    **dict.fromkeys(("auto", "const", "var", "val", "mut", "Tensor", "Scalar", "int", "int64_t", "float", "double"), _LET),
    **dict.fromkeys(("bool", "size_t", "static", "constexpr", "std::vector", "std::tuple", "std::optional"), _LET),
    **dict.fromkeys(("raise", "throw", "assert", "TORCH_CHECK", "TORCH_INTERNAL_ASSERT"), _RAISE),
    "switch": "a choice is `test ? one : other`, or results under conditions: `if (COND) return EXPR;`",
    **dict.fromkeys(("else", "elif"), "what follows `if (COND) return EXPR;` is the other case: it needs no `else`"),
}


def statement_help(text: str, at: int, found: str) -> str:
    """The same for a function's statement, which begins with the text."""
    before, after = text[:at].strip(), text[at + len(found) :].lstrip()
    word = _first_word(text)
    if not before:
        return _beginning_help(found, after)
    if _around(text, at) != ("", ""):
        return ""
    if word == "let" and ("=" not in before or (found == "=" and before.endswith("="))):
        return _let_help(before, found)
    if word == "if" and before == "if":
        return "the condition stands in brackets: `if (COND) return EXPR;`"
    if word == "if" and before.endswith(")") and "return" not in before:
        return "under a condition there is one result, without braces: `if (COND) return EXPR;`"
    if word in ("return", "if") and found == ";" and _last_word(before) == "return":
        return "a function gives a value: `return EXPR;`"
    if word == "let" and found == "," and "=" in before:
        return "each name has its own `let name = EXPR;`"
    if word == "return" and found == ",":
        return "several results are a tuple: `return (a, b);`"
    begins_line = text[:at].rstrip(" \t").endswith(("\n", "}"))
    if found in ("let", "return") or (found in ("if", "else", "elif", "for") and begins_line):
        return _BEGINNINGS.get(found, "is a `;` missing before it?")
    return ""


def _beginning_help(found: str, after: str) -> str:
    if found in _BEGINNINGS:
        return _BEGINNINGS[found]
    if found == ";":
        return "a statement is missing before it, or this `;` is one too many"
    if found == "{":
        return "braces hold no statements here: a result under a condition is `if (COND) return EXPR;`"
    if after.startswith(":") and not after.startswith("::"):
        return f"a rule stands in an op; {RESULT_HELP}"
    if after.startswith(("+=", "-=", "*=", "/=")):
        return f"names are given once: `let another = {found} {after[0]} EXPR;`"
    if after.startswith("=") and not after.startswith("=="):
        return f"a name for a value is `let {found} = EXPR;`, given once"
    if after.startswith(",") and "=" in after.partition(";")[0]:
        return "names for the parts of a tuple are `let a, b = EXPR;`"
    return f"a value alone does nothing; {_PARTS}" if _is_word(found) and found != "pass" else _PARTS


def _let_help(before: str, found: str) -> str:
    if found in ("(", "["):
        return "names stand without brackets: `let a, b = EXPR;`"
    if found == ";":
        return "a name is given with its value: `let name = EXPR;`"
    if found == "=" and not before.endswith("="):
        return "a name comes first: `let name = EXPR;`"
    return _LET if found != "=" else "a name is given by one `=`"


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
    if _last_word(owner) in _MODULES and name in _DTYPES:
        return start, len(before), f"write `{_DTYPES[name]}`"
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
    "auto": "Tensor",
    "variable_list": "Tensor[]",
    "double_t": "float",
    "long": "int",
    "size_t": "int",
    "void": "Tensor",
    "None": "Tensor",
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


def item_help(text: str, at: int, found: str) -> str:
    """What to write in place of what stands between the items of a .grad file."""
    line = text[at:].partition("\n")[0]
    if found == ";":
        return "an op or function ends with its `}`, without `;`"
    if found == "}":
        return "what it would close is closed already"
    if found in ("let", "return"):
        return "statements stand in a function: `fn name(Tensor x) -> Tensor { return x * 2; }`"
    if "(" in line and found.isidentifier() and (found in _FUNCTION_WORDS or line.rstrip().endswith(("{", ":"))):
        return "a function looks like `fn name(Tensor x) -> Tensor { return x * 2; }`"
    return "a file holds `op SCHEMA { ... }`, `fn HEADER { ... }`, `library NAME;` and `extern NAME;`"


def yaml_help(text: str, path: str) -> str:
    """What to say of a YAML file that is another kind of file; empty where it is none."""
    if text.lstrip().startswith(("op ", "library ", "extern ", "//")):
        return "if it is in the .grad language, let the file's name end in .grad"
    if not path.endswith((".yaml", ".yml")):
        return "a file whose name does not end in .grad is read as a derivatives.yaml"
    return ""


def open_fold(text: str, at: int) -> int:
    """Where the `fold` begins whose bracket is the innermost one that is open at a place; -1 where none is."""
    opened = _opened(text, at)
    before = text[: opened[-1]].rstrip() if opened else ""
    return len(before) - len("fold") if _last_word(before) == "fold" else -1


def _around(text: str, at: int) -> tuple[str, str]:
    """The innermost bracket that is open at a place, and the word or sign right before it that owns it; empty where none."""
    opened = _opened(text, at)
    if not opened:
        return "", ""
    before = text[: opened[-1]].rstrip()
    word = _last_word(before)
    owns = word not in ("return", "if", "in", "for") and (word or before.endswith((")", "]", "}")))
    return text[opened[-1]], (word or before[-1]) if owns else ""


def _opened(text: str, at: int) -> list[int]:
    """The places of the brackets that are open at a place."""
    opened: list[int] = []
    i = 0
    while i < at:
        c = text[i]
        if c == '"':
            closing = text.find('"', i + 1)
            i = closing if 0 < closing < at else i
        elif c in "([{":
            opened.append(i)
        elif c in ")]}" and opened:
            opened.pop()
        i += 1
    return opened


def _is_word(text: str) -> bool:
    return text.replace("::", "").isidentifier()


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
