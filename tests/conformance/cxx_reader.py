"""Reads the classes of a generated C++ header: bases and data members; no compiler, and no more C++ than generators write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from attrs import field, frozen

Tokens: TypeAlias = tuple[str, ...]

_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|\d[\w.']*|::|->|\.\.\.|\S", re.DOTALL
)
_OPEN, _CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
# torch::List is c10::List, and at::Scalar is c10::Scalar. What a name means in the end is the compiler's to judge.
_NAMESPACES = {"torch", "autograd", "generated", "at", "c10", "std"}
_NO_MEMBER = {"using", "typedef", "friend", "static", "template", "struct", "class", "enum", "union"}


@frozen
class Member:
    """A data member; `type` without namespaces and blanks."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


@frozen
class Class:
    """A class: its bases as written (without namespaces), its own data members, and the parameters if it is a template."""

    name: str
    bases: tuple[str, ...]
    members: tuple[Member, ...]
    parameters: tuple[str, ...] = ()
    exported: bool = False


@frozen
class Shape:
    """What a class is in the end: the root it comes from, and the data members of all bases below it, bases first."""

    root: str
    members: tuple[Member, ...] = field(factory=tuple)


def read_classes(text: str, defined: frozenset[str] = frozenset()) -> dict[str, Class]:
    """All classes of a header by name; of a name that stands twice the last. `defined` are the macros that count as defined.

    Macros without parameters that the text defines are put in; those with parameters are taken for declarations of functions.
    """
    macros: dict[str, Tokens] = {}
    tokens = tuple(_tokens(_visible(text, defined, macros)))
    return {c.name: c for c in _classes(_expanded(tokens, macros))}


def resolve(classes: Mapping[str, Class], name: str, roots: Sequence[str]) -> Shape:
    """Follow the first base of a class to a root, through bases that are known, template arguments put in.

    Raises:
        ValueError: the chain ends at a class that is neither known nor a root.
    """
    base, arguments = _template(name)
    if base in roots:
        return Shape(base)
    known = classes.get(base)
    if known is None:
        raise ValueError(f"{base} is neither a class of these headers nor one of {', '.join(roots)}")
    bound = dict(zip(known.parameters, arguments, strict=False))
    members = tuple(Member(_substitute(m.type, bound), m.name) for m in known.members)
    if not known.bases:
        return Shape("", members)
    shapes = [resolve(classes, _substitute(b, bound), roots) for b in known.bases]
    rooted = next((s.root for s in shapes if s.root), "")
    return Shape(rooted, tuple(m for s in shapes for m in s.members) + members)


# ------------------------------------------------------------------------------------------------------------------ tokens


def _visible(text: str, defined: frozenset[str], macros: dict[str, Tokens]) -> str:
    """The lines that the preprocessor keeps; only `#ifdef` and `#ifndef` are understood, any other `#if` counts as true."""
    kept: list[str] = []
    shown: list[bool] = []
    for line in text.replace("\\\n", " ").split("\n"):
        if not line.lstrip().startswith("#"):
            kept.append(line if all(shown) else "")
            continue
        word, _, rest = line.strip().lstrip("#").strip().partition(" ")
        name, _, body = rest.strip().partition(" ")
        if word in ("if", "ifdef", "ifndef"):
            shown.append(word == "if" or (name in defined or name in macros) == (word == "ifdef"))
        elif word in ("else", "elif"):
            shown[-1] = not shown[-1]
        elif word == "endif":
            shown.pop()
        elif word == "define" and all(shown) and "(" not in name:
            macros[name] = tuple(_tokens(body))
    return "\n".join(kept)


def _expanded(tokens: Tokens, macros: Mapping[str, Tokens]) -> Tokens:
    expanded: list[str] = []
    for token in tokens:
        expanded += _expanded(macros[token], {k: v for k, v in macros.items() if k != token}) if token in macros else (token,)
    return tuple(expanded)


def _tokens(text: str) -> Iterator[str]:
    return (t for t in _TOKEN.findall(text) if not t.startswith(("//", "/*")))


def _closing(tokens: Tokens, at: int) -> int:
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i] in _OPEN:
            depth += 1
        elif tokens[i] in _CLOSE:
            depth -= 1
            if depth == 0:
                return i
    raise ValueError(f"a bracket is not closed: {' '.join(tokens[at : at + 12])} ...")


def _angle_end(tokens: Tokens, at: int) -> int:
    """The index behind the `>` that closes the `<` at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += {"<": 1, ">": -1}.get(tokens[i], 0)
        if depth == 0:
            return i + 1
    raise ValueError("a template bracket is not closed")


def _split(tokens: Tokens, separator: str) -> list[Tokens]:
    """Parts between separators that stand outside of all brackets."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in _OPEN or token == "<") - (token in _CLOSE or token == ">")
        if token == separator and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [tuple(p) for p in parts if p]


# ----------------------------------------------------------------------------------------------------------------- classes


def _classes(tokens: Tokens) -> Iterator[Class]:
    i = 0
    parameters: tuple[str, ...] = ()
    while i < len(tokens):
        if tokens[i] == "template" and tokens[i + 1 : i + 2] == ("<",):
            end = _angle_end(tokens, i + 1)
            parameters = tuple(p[-1] if "=" not in p else p[p.index("=") - 1] for p in _split(tokens[i + 2 : end - 1], ","))
            i = end
        elif tokens[i] in ("struct", "class") and (i == 0 or tokens[i - 1] not in ("enum", "friend")):
            head = i
            while i < len(tokens) and tokens[i] not in ("{", ";", ")", "="):
                i = _closing(tokens, i) + 1 if tokens[i] in ("(", "[") else i + 1
            if i < len(tokens) and tokens[i] == "{":
                end = _closing(tokens, i)
                yield _class(tokens[head + 1 : i], tokens[i + 1 : end], parameters)
                i = end
            parameters = ()
            i += 1
        elif tokens[i] == "{" and not _is_namespace(tokens, i):
            i = _closing(tokens, i) + 1
        else:
            if tokens[i] == ";":
                parameters = ()
            i += 1


def _is_namespace(tokens: Tokens, brace: int) -> bool:
    i = brace - 1
    while i >= 0 and (tokens[i] == "::" or tokens[i].isidentifier()):
        if tokens[i] in ("namespace", "extern"):
            return True
        i -= 1
    return i >= 0 and tokens[i].startswith('"')


def _class(head: Tokens, body: Tokens, parameters: tuple[str, ...]) -> Class:
    colon = next((i for i, token in enumerate(head) if token == ":"), len(head))
    named = [t for t in _without_brackets(head[:colon]) if t.isidentifier() and t != "final"]
    bases = tuple(
        _spelled(tuple(t for t in base if t not in ("public", "protected", "private", "virtual")))
        for base in _split(head[colon + 1 :], ",")
    )
    exported = any(t.endswith(("_API", "_EXPORT")) for t in named[:-1])
    return Class(named[-1], bases, tuple(_members(body)), parameters, exported)


def _without_brackets(tokens: Tokens) -> Iterator[str]:
    i = 0
    while i < len(tokens):
        if tokens[i] in ("(", "["):
            i = _closing(tokens, i)
        else:
            yield tokens[i]
        i += 1


def _members(body: Tokens) -> Iterator[Member]:
    i = start = 0
    while i < len(body):
        token = body[i]
        if token in ("public", "private", "protected") and body[i + 1 : i + 2] == (":",):
            i = start = i + 2
        elif i == start and token.isupper() and body[i + 1 : i + 2] == ("(",):
            # A macro that stands for declarations.
            i = start = _closing(body, i + 1) + 1
        elif token == ";":
            yield from _declared(body[start:i])
            i = start = i + 1
        elif token == "{":
            end = _closing(body, i)
            # The body of a function ends its declaration, the one of a class or an initialiser does not.
            if "(" in body[start:i] and "=" not in body[start : body.index("(", start)]:
                start = end + 1
            i = end + 1
        elif token in ("(", "["):
            i = _closing(body, i) + 1
        else:
            i += 1


def _declared(tokens: Tokens) -> Iterator[Member]:
    if not tokens or tokens[0] in _NO_MEMBER:
        return
    initialiser = next((i for i, t in enumerate(tokens) if t in ("=", "{")), len(tokens))
    declared = tokens[:initialiser]
    if "(" in declared or len(declared) < 2:
        return
    kept = tuple(t for t in declared[:-1] if t not in ("mutable", "const"))
    yield Member(_spelled(kept), declared[-1])


# ------------------------------------------------------------------------------------------------------------------- types


def _spelled(tokens: Tokens) -> str:
    """A type without blanks and without the namespaces that mean the same."""
    parts: list[str] = []
    for i, token in enumerate(tokens):
        if token == "::" and (not parts or not parts[-1].isidentifier()):
            continue
        if token in _NAMESPACES and tokens[i + 1 : i + 2] == ("::",):
            continue
        parts.append(f" {token}" if parts and token.isidentifier() and parts[-1].isidentifier() else token)
    return "".join(parts)


def _template(name: str) -> tuple[str, tuple[str, ...]]:
    if "<" not in name:
        return name, ()
    tokens = tuple(_tokens(name))
    at = tokens.index("<")
    return "".join(tokens[:at]), tuple("".join(p) for p in _split(tokens[at + 1 : -1], ","))


def _substitute(name: str, bound: Mapping[str, str]) -> str:
    return "".join(bound.get(token, token) for token in _tokens(name)) if bound else name
