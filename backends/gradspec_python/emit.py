"""The files of the backend, from a program: a module a spec; knows neither disk nor templates' text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from attrs import field, frozen

from gradspec.diagnostics import Diagnostics
from gradspec.emit.templates import template_environment
from gradspec.ir import Function, Op, Program
from gradspec.signatures import Signatures, operators_of
from gradspec.typed import Typing
from gradspec_python.expr import CannotLower, Lowering
from gradspec_python.function import FunctionBuilder, FunctionModel
from gradspec_python.helpers import Helper, Helpers, lower_functions
from gradspec_python.names import function_names
from gradspec_python.pure import PureFunction, docstring, pure_function, with_sizes
from gradspec_python.support import names_read, support_functions, with_dependencies

_TEMPLATES = Path(__file__).parent / "templates"
_MODULES = ("cmath", "ctypes", "functools", "math")


@frozen
class PythonOptions:
    """What `-O key=value` sets."""

    skip: bool = field(
        default=False,
        metadata={"help": "leave out what cannot be lowered, and say so in the module, where it would else be an error"},
    )


@frozen
class LoweredOp:
    """An op as Python text, and what support functions it calls."""

    op: Op
    pure: PureFunction
    function: FunctionModel
    used: frozenset[str]
    helpers: frozenset[str]


@frozen
class Refusal:
    """Why an op, or its tangents alone, cannot be lowered."""

    op: Op
    reason: str
    tangents: bool


def lower_helpers(program: Program) -> Helpers:
    """The functions of the program as Python."""
    pure = {name for name, _ in function_names(program.nodes, ()).values()}
    return lower_functions(program.functions, Signatures(operators_of(program), program.functions), pure)


def lower_program(program: Program, helpers: Helpers) -> tuple[tuple[LoweredOp, ...], tuple[Refusal, ...]]:
    """Every node that Python can express, and why it cannot express the others."""
    signatures = Signatures(operators_of(program), program.functions)
    names = function_names(program.nodes, [*support_functions(), *helpers.names.values()])
    lowered: list[LoweredOp] = []
    refused: list[Refusal] = []
    for node in program.nodes:
        lowering = Lowering(Typing(signatures), helpers.names)
        pure_name, name = names[id(node)]
        op = with_sizes(node)
        try:
            pure = pure_function(op, pure_name, lowering)
            helpers.with_dependencies(lowering.helpers)
            builder = FunctionBuilder(op, lowering, pure, pure_name, name)
            model = builder.model()
        except CannotLower as reason:
            refused.append(Refusal(op, str(reason), tangents=False))
            continue
        refused += [Refusal(op, reason, tangents=True) for reason in dict.fromkeys(builder.tangents.refused)]
        lowered.append(LoweredOp(op, pure, model, frozenset(lowering.used), frozenset(lowering.helpers)))
    return tuple(lowered), tuple(refused)


def emit(program: Program, options: PythonOptions) -> Mapping[str, str]:
    """A module for each spec file.

    Raises:
        SpecError: what cannot be lowered, each with its callee; with `skip` it is left out instead.
    """
    helpers = lower_helpers(program)
    lowered, refused = lower_program(program, helpers)
    if refused and not options.skip:
        diagnostics = Diagnostics()
        for refusal in refused:
            what = f"the tangents of `{refusal.op.name}`" if refusal.tangents else f"`{refusal.op.name}`"
            message = f"{what} cannot be lowered to Python: it has no {refusal.reason}"
            help_ = "write the formula with operators alone, or leave it out with `-O skip=true`"
            if not signatures_known(program):
                help_ = "operators are called by their schemas: give them with `--schemas torch`"
            diagnostics.add("GS0906", message, refusal.op.span, help=help_)
        diagnostics.raise_errors()
    modules: dict[str, list[LoweredOp]] = {}
    for item in lowered:
        modules.setdefault(module_name(item.op), []).append(item)
    left_out: dict[str, list[str]] = {}
    for refusal in refused:
        what = f"{refusal.op.name} ({'tangents' if refusal.tangents else refusal.op.dispatch}): no {refusal.reason}"
        left_out.setdefault(module_name(refusal.op), []).append(what)
    # A file of functions alone makes a module too.
    own: dict[str, list[Helper]] = {}
    for function in program.functions:
        helper = helpers.lowered.get(helpers.names[id(function)])
        if helper is not None:
            own.setdefault(module_name(function), []).append(helper)
    alone = own if not program.ops else {}
    names = dict.fromkeys([*modules, *left_out, *alone])
    return {
        f"{name}.py": _module(name, modules.get(name, []), alone.get(name, []), helpers, left_out.get(name, [])) for name in names
    }


def signatures_known(program: Program) -> bool:
    """Whether the program comes with a list of operators."""
    return bool(program.operators("add"))


def module_name(item: Op | Function) -> str:
    """The module of an op or function: its spec file's name as an identifier."""
    stem = PurePosixPath(item.span.source.path).stem if item.span is not None else "ops"
    name = "".join(c if c.isalnum() else "_" for c in stem)
    return f"_{name}" if name[:1].isdigit() or not name else name


def _module(name: str, ops: list[LoweredOp], alone: list[Helper], helpers: Helpers, left_out: list[str]) -> str:
    called = helpers.with_dependencies({h.name for h in alone}.union(*[o.helpers for o in ops]))
    support = with_dependencies(frozenset().union(*[o.used for o in ops], *[h.support for h in called]))
    body = "\n".join([*_lines(ops), *[line for h in called for line in (h.head, *h.body)]])
    read = set(names_read(support))
    words = _words(body)
    imports = [m for m in _MODULES if m in read or m in words]
    values = {
        "name": name,
        "ops": ops,
        "imports": imports,
        "sequence": "Sequence" in words,
        "aten": "aten" in words,
        "tensor": "Tensor" in words or "Tensor" in read,
        "support": [support_functions()[s] for s in support],
        "helpers": called,
        "left_out": left_out,
        "exported": sorted(n for o in ops for n in (_defined(o.pure.head), _defined(o.function.head), o.function.name)),
        "docstring": docstring,
    }
    return template_environment(_TEMPLATES).get_template("module.py.j2").render(values)


def _defined(head: str) -> str:
    return head.removeprefix("def ").partition("(")[0]


def _lines(ops: Iterable[LoweredOp]) -> Iterable[str]:
    for item in ops:
        yield item.pure.head
        yield from item.pure.body
        yield item.function.head
        for method in item.function.methods:
            yield from method.body


def _words(text: str) -> frozenset[str]:
    plain = "".join(c if c.isalnum() or c == "_" else " " for c in text)
    return frozenset(plain.split())
