"""Functions of the language as C++ functions; knows no node."""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import chain, count

from attrs import frozen

from gradspec import ir
from gradspec.emit.cxx import call, comment, string_literal
from gradspec.emit.identifiers import is_cxx_reserved
from gradspec.signatures import Signature, Signatures, declared_functions, operators_of, result_type
from gradspec.typed import Typing
from gradspec.typed_function import type_function
from gradspec.types import INT, OPTIONAL_TENSOR, OPTIONAL_TENSOR_LIST, BaseType, ListType, OptionalType
from gradspec.values import FLOAT, BracesType, ValueType, listed
from gradspec_cpp.expr import emit_expr_lines
from gradspec_cpp.function_types import default_text, owned_type, parameter_type

# How a Scalar gives a number of a type.
_READ = {"int64_t": "toLong", "double": "toDouble", "bool": "toBool"}


@frozen
class FunctionModel:
    """A function's comment, its declaration with defaults, its definition's head, and the lines of its body."""

    name: str
    doc: tuple[str, ...]
    declaration: str
    head: str
    body: tuple[str, ...]


# What functions are made of: a parameter or `let` of such a name would hide it.
_RUNTIME = frozenset(
    {"folded", "helpers", "length", "list_or", "mapped", "mapped_if", "owned", "range", "tensors_of", "std", "at", "c10"}
)

# What the runtime header of functions has for formulas.
PRIMITIVES = frozenset({"not_implemented", "not_implemented_list", "kCudnnDoubleBackwardMsg"})

# Of the functions that PyTorch declares beside its operators those that are ATen's, and no helpers of formulas.
_ATEN = frozenset(
    """
    areAnyTensorSubclassLike isComplexType isDifferentiableType isFloatingType isIntegralType isTensorSubclassLike
    is_expandable_to sum_to TensorGeometry toAccumulateType toComplexType toRealValueType
    """.split()
)


def function_models(program: ir.Program) -> tuple[FunctionModel, ...]:
    """The functions that the nodes of the program call as C++."""
    signatures = Signatures(operators_of(program), program.functions)
    called = ir.called_functions(program.functions, [d.formula for op in program.nodes for d in op.derivatives])
    return tuple([_model(function, signatures) for function in called])


def unwritten_models(program: ir.Program) -> tuple[FunctionModel, ...]:
    """PyTorch's helpers that are called and that no function stands for: each raises an error that names it.

    Without them a library of nodes could not be loaded for the sake of one symbol.
    """
    formulas = [d.formula for op in program.nodes for d in op.derivatives]
    written = {function.name for function in program.functions}
    parts = [part for formula in formulas for part in ir.walk(formula)]
    parts += [part for function in ir.called_functions(program.functions, formulas) for part in function.walk()]
    called = {part.function for part in parts if isinstance(part, ir.Call)} - written - PRIMITIVES - _ATEN
    declared = declared_functions()
    return tuple([_unwritten(s) for name in sorted(called) if "::" not in name for s in declared.get(name, ())])


def _unwritten(signature: Signature) -> FunctionModel:
    result = owned_type(signature.result)
    types = [parameter_type(p.type) for p in signature.parameters if isinstance(p.type, BaseType | ListType | OptionalType)]
    parts = list(zip(types, signature.parameters, strict=True))
    declared = tuple([f"{type_}{p.name}{' = {}' if p.has_default else ''}" for type_, p in parts])
    defined = tuple([f"{type_}/*{p.name}*/" for type_, p in parts])
    reason = string_literal("No function of that name is written in the language.")
    return FunctionModel(
        signature.name,
        (),
        call(f"{result} {signature.name}(", declared, ");", 0),
        call(f"{result} {signature.name}(", defined, ") {", 0),
        (f"  not_implemented({string_literal(signature.name)}, {reason});", "  return {};"),
    )


def _model(function: ir.Function, signatures: Signatures) -> FunctionModel:
    typing = Typing(signatures)
    type_function(typing, function)
    read = {part.name for part in function.walk() if isinstance(part, ir.Local)}
    writer = _Writer(typing, read, _names(function))
    result = owned_type(result_type(function.schema))
    declared = [
        f"{parameter_type(p.type)}{writer.name(p.name)}{'' if p.default is None else ' = ' + default_text(p.type, p.default)}"
        for p in function.parameters
    ]
    defined: list[str] = []
    body: list[str] = []
    for parameter in function.parameters:
        name = writer.name(parameter.name) if parameter.name in read else f"/*{parameter.name}*/"
        if parameter.type == OPTIONAL_TENSOR and parameter.name in read:
            # An absent tensor reads as an undefined one.
            body.append(f"  const at::Tensor {name} = optional_{name}.value_or(at::Tensor());")
            name = f"optional_{name}"
        defined.append(f"{parameter_type(parameter.type)}{name}")
    for statement in function.statements:
        if isinstance(statement, ir.Let):
            body += writer.let(statement)
        else:
            body.append(f"  if ({writer.text(statement.test, 6, 3)}) {{")
            body += [f"    return {writer.result(statement.value, result_type(function.schema), 11)};", "  }"]
    body.append(f"  return {writer.result(function.result, result_type(function.schema), 9)};")
    return FunctionModel(
        function.name,
        tuple([comment(line) for line in function.doc]),
        call(f"{result} {function.name}(", tuple(declared), ");", 0),
        call(f"{result} {function.name}(", tuple(defined), ") {", 0),
        tuple(body),
    )


def _names(function: ir.Function) -> dict[str, str]:
    """The C++ name of each name of a function: with something behind it where the plain one means something else there."""
    parts = tuple(function.walk())
    own = [p.name for p in function.parameters]
    own += [name for s in function.statements if isinstance(s, ir.Let) for name in s.names]
    own += [n for p in parts if isinstance(p, ir.Fold | ir.Comprehension) for n in p.names]
    own += [p.accumulator for p in parts if isinstance(p, ir.Fold)] + [p.param for p in parts if isinstance(p, ir.Lambda)]
    called = {p.function for p in parts if isinstance(p, ir.Call)}
    names: dict[str, str] = {}
    for name in dict.fromkeys(own):
        # Two underscores in a row are not for us ([lex.name]).
        choices = chain([name, f"{name.rstrip('_')}_"], (f"{name.rstrip('_')}_{i}" for i in count(2)))
        free = (c for c in choices if c not in _RUNTIME | called and not is_cxx_reserved(c))
        names[name] = next(c for c in free if c == name or (c not in own and c not in names.values()))
    return names


@frozen
class _Writer:
    """The expressions of one function. `read` are the names that it reads, `names` what C++ calls each."""

    typing: Typing
    read: Set[str]
    names: Mapping[str, str]

    def name(self, name: str) -> str:
        """A parameter's or `let`'s name in C++."""
        return self.names.get(name, name)

    def text(self, expr: ir.Expr, column: int, room: int) -> str:
        """An expression that starts at a column."""
        return emit_expr_lines(self._owning(expr), column, 6, room)

    def result(self, expr: ir.Expr, wanted: ValueType, column: int) -> str:
        """A returned expression; what only refers to a list is copied."""
        if isinstance(wanted, ListType):
            expr = self._kept(expr)
        return self.text(expr, column, 1)

    def let(self, statement: ir.Let) -> list[str]:
        """A definition, or several that take a tuple apart."""
        type_ = self.typing.type_of(statement.value)
        if len(statement.names) > 1:
            whole = "_and_".join(statement.names)
            whole = next(c for c in chain([whole], (f"{whole}_{i}" for i in count(2))) if c not in self.names.values())
            head = f"  const auto {whole} = "
            lines = [f"{head}{self.text(statement.value, len(head), 1)};"]
            parts = [(i, self.name(n)) for i, n in enumerate(statement.names) if n in self.read]
            return lines + [f"  const auto& {name} = std::get<{i}>({whole});" for i, name in parts]
        value = statement.value
        if isinstance(type_, ListType):
            value = self._kept(value)
        # A number over symbolic ones is symbolic.
        spelled = "auto" if type_ == FLOAT else owned_type(listed(type_))
        head = f"  const {spelled} {self.name(statement.names[0])} = "
        return [f"{head}{self.text(value, len(head), 1)};"]

    def _kept(self, value: ir.Expr) -> ir.Expr:
        """A list that does not refer to another one."""
        binding = self.typing.bindings.get(id(value))
        own = binding is not None and binding.signature.function is not None
        return value if own or isinstance(value, ir.Braces | ir.Comprehension | ir.Construct) else ir.Call("owned", (value,))

    def _owning(self, expr: ir.Expr) -> ir.Expr:
        """The expression with what C++ needs said: which list a choice gives, how long one is, as what a fold begins."""

        def change(part: ir.Expr) -> ir.Expr | None:
            match part:
                case ir.Conditional(test, then, other) if isinstance(self.typing.type_of(part), ListType):
                    return ir.Conditional(self._owning(test), self._list(then, part), self._list(other, part))
                case ir.Method(receiver, "size", ()) if isinstance(self.typing.type_of(receiver), ListType):
                    return ir.Call("length", (self._owning(receiver),))
                case ir.Method(receiver, "value_or", (other,)) if _is_optional_list(self.typing.type_of(receiver)):
                    return ir.Call("list_or", (self._owning(receiver), self._list(other, part)))
                case ir.Method(receiver, "item", (), False, (ir.TypeRef(name),)) if name in _READ:
                    # Elements are `auto`, of which C++ does not know that a template is asked for.
                    return ir.Method(ir.Method(self._owning(receiver), "item", ()), _READ[name], ())
                case ir.Binary("<<", ir.Number() as shifted, by):
                    # In C++ it would be an `int`, which holds 31 places.
                    return ir.Binary("<<", ir.Construct(ir.TypeRef("int64_t"), (shifted,)), self._owning(by))
                case ir.Method(receiver, "dtype", ()):
                    return ir.Method(self._owning(receiver), "scalar_type", ())
                case ir.Index(value, index) if self.typing.type_of(value) == OPTIONAL_TENSOR_LIST:
                    return ir.Index(ir.Call("tensors_of", (self._owning(value),)), self._owning(index))
                case ir.Local(name):
                    return ir.Local(self.name(name))
                case ir.Fold(accumulator, initial, names, sources, value):
                    walked = tuple([self._walked(x) for x in sources])
                    names = tuple([self.name(n) for n in names])
                    return ir.Fold(self.name(accumulator), self._begun(initial, part), names, walked, self._owning(value))
                case ir.Comprehension(value, names, sources, test):
                    walked = tuple([self._walked(x) for x in sources])
                    names = tuple([self.name(n) for n in names])
                    made = self._owning(value)
                    if self.typing.type_of(value) == INT and not isinstance(value, ir.Local):
                        made = ir.Construct(ir.TypeRef("int64_t"), (made,))
                    return ir.Comprehension(made, names, walked, None if test is None else self._owning(test))
                case _:
                    return None

        return ir.rewrite(expr, change)

    def _walked(self, source: ir.Expr) -> ir.Expr:
        type_ = self.typing.type_of(source)
        if type_ == OPTIONAL_TENSOR_LIST:
            return ir.Call("tensors_of", (self._owning(source),))
        return self._list(source, source) if isinstance(type_, BracesType) else self._owning(source)

    def _list(self, expr: ir.Expr, whole: ir.Expr) -> ir.Expr:
        type_ = listed(self.typing.type_of(whole))
        if isinstance(expr, ir.Braces):
            return ir.Construct(ir.TypeRef(owned_type(type_)), tuple([self._owning(i) for i in expr.items]), braces=True)
        return ir.Call("owned", (self._owning(expr),))

    def _begun(self, initial: ir.Expr, whole: ir.Expr) -> ir.Expr:
        type_ = self.typing.type_of(whole)
        if isinstance(type_, ListType):
            return self._list(initial, whole)
        # The accumulator is of the type of the first value.
        if isinstance(type_, BaseType) and type_.name in ("int", "SymInt") or type_ == FLOAT != self.typing.type_of(initial):
            return ir.Construct(ir.TypeRef(owned_type(type_)), (self._owning(initial),))
        return self._owning(initial)


def _is_optional_list(type_: ValueType) -> bool:
    return isinstance(type_, OptionalType) and isinstance(type_.elem, ListType)
