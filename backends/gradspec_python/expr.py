"""Expressions as Python; knows the formula's own types and overloads, no statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import TypeGuard, assert_never

from attrs import Factory, define

from gradspec import ir
from gradspec.layout import LINE, Doc, concat
from gradspec.signatures import type_of_ref
from gradspec.typed import MATH_FUNCTIONS, Binding, Typing
from gradspec.types import BOOL, INT, OPTIONS_ARGUMENTS, SYMINT, TENSOR, BaseType, ListType, OptionalType, is_tensor_list
from gradspec.values import FLOAT, TENSOR_OPTIONS, UNKNOWN, BracesType, TupleType, ValueType
from gradspec_python import code as c
from gradspec_python.calls import callable_name, is_method, is_property, overload_name
from gradspec_python.code import Code, bracketed, called, infix, named
from gradspec_python.members import CONSTANTS, FUNCTIONS, LIST_MEMBERS, MEMBERS, TENSOR_METADATA, constant, number
from gradspec_python.names import local_name, python_name
from gradspec_python.support import support_functions, support_name

_NONE = Code("None")
_TENSOR_BINARY = {
    "*": ("*", c.PRODUCT), "/": ("/", c.PRODUCT), "%": ("%", c.PRODUCT), "+": ("+", c.SUM), "-": ("-", c.SUM),
    "<<": ("<<", c.SHIFT), ">>": (">>", c.SHIFT), "&": ("&", c.BIT_AND), "^": ("^", c.BIT_XOR), "|": ("|", c.BIT_OR),
    "<": ("<", c.COMPARISON), ">": (">", c.COMPARISON), "<=": ("<=", c.COMPARISON), ">=": (">=", c.COMPARISON),
    "==": ("==", c.COMPARISON), "!=": ("!=", c.COMPARISON),
}  # fmt: skip

# Functions of <cmath> that Python has by another name.
_MATH = {"abs": "abs", "tgamma": "math.gamma"}
# What C++ makes of a number by itself where another type is declared.
_CONVERTED: dict[tuple[ValueType, ValueType], str] = {
    **{(number, FLOAT): "float" for number in (BOOL, INT, SYMINT)},
    **{(number, BOOL): "bool" for number in (INT, FLOAT)},
    (BOOL, INT): "int",
    (BOOL, SYMINT): "int",
}
_CASTS: dict[ValueType, str] = {INT: "int", SYMINT: "int", FLOAT: "float", BOOL: "bool"}


class CannotLower(Exception):
    """The target has no form for this; the message says for what."""


@define
class Lowering:
    """The expressions of one op's formulas as Python.

    `names` are those of the language's functions, by `id`. `used` and `helpers` gather the support functions and the functions of
    the language that are called.
    """

    typing: Typing
    names: Mapping[int, str] = Factory(dict)
    used: set[str] = Factory(set)
    helpers: set[str] = Factory(set)
    retain: str = "True"

    def lower(self, expr: ir.Expr, wanted: ValueType = UNKNOWN, *, exact: bool = False) -> Code:
        """An expression; `wanted` is the type of the parameter that it is for, where it is an argument.

        `exact` where the value must be of that type, and nothing that torch takes in its place.

        Raises:
            CannotLower: it calls what Python does not have.
        """
        made = self._lower(expr, wanted)
        given = self.typing.type_of(expr)
        if exact and wanted != given and (convert := _CONVERTED.get((given, wanted))):
            return Code(f"{made.flat}.0") if _is_figures(expr) and wanted == FLOAT else called(convert, [made.doc])
        list_ = wanted.elem if isinstance(wanted, OptionalType) else wanted
        if isinstance(list_, ListType) and isinstance(given, BaseType) and not is_tensor_list(given):
            # C++ makes a list of one element by itself.
            return Code(bracketed("[", [made.doc], "]"))
        return made

    def _lower(self, expr: ir.Expr, wanted: ValueType) -> Code:
        match expr:
            case ir.Saved(name=name) | ir.Input(name=name) | ir.Output(name=name):
                return Code(python_name(name))
            case ir.Local(name):
                return Code(local_name(name))
            case ir.Cotangent(name=name):
                return Code(name)
            case ir.Cotangents():
                return Code("grads")
            case ir.Tangent(name, original):
                return Code(python_name(f"original_{name}_t" if original else f"{name}_t"))
            case ir.Primal(name, original):
                return Code(python_name(f"original_{name}_p" if original else f"{name}_p"))
            case ir.Number(text):
                return Code(number(text))
            case ir.Method():
                return self._method(expr)
            case ir.Call():
                return self._call(expr, wanted)
            case ir.Binary():
                return self._binary(expr)
            case ir.Unary():
                return self._unary(expr)
            case ir.Conditional(test, then, other):
                middle = self.truth(test)
                made = self.typing.type_of(expr)
                exact = made == FLOAT
                first, second = [self.lower(part, made if exact else wanted, exact=exact) for part in (then, other)]
                doc = concat(first.within(c.OR), LINE, "if ", middle.within(c.OR), LINE, "else ", second.within(c.TERNARY))
                return Code(doc, c.TERNARY)
            case ir.Index(value, index):
                return Code(concat(self.lower(value).within(c.POSTFIX), "[", self.lower(index).doc, "]"), c.POSTFIX)
            case ir.Constant(name):
                spelled = constant(name)
                if spelled is None:
                    raise CannotLower(f"constant `{name}`")
                return Code(spelled)
            case ir.Bool(value):
                return Code(str(value))
            case ir.String(value):
                return Code(_string(value))
            case ir.RetainVariables():
                return Code(self.retain)
            case ir.InputMask():
                return Code("grad_input_mask")
            case ir.ElementIndex():
                return Code("i")
            case ir.Braces(items):
                return self._braces(items, wanted)
            case ir.Construct():
                return self._construct(expr)
            case ir.Lambda():
                raise CannotLower("lambda but for fmap")
            case ir.Comprehension(value, names, sources, test):
                elem: ValueType = wanted.elem if isinstance(wanted, ListType) else UNKNOWN
                parts = [self.lower(value, elem).doc, LINE, "for ", self._walk(names, sources)]
                parts += [] if test is None else [LINE, "if ", self.truth(test).within(c.OR)]
                return Code(bracketed("[", [concat(*parts)], "]"))
            case ir.Fold():
                return self._fold(expr)
            case _:
                assert_never(expr)

    def use(self, helper: str) -> str:
        """The name of a support function, which the module then brings along."""
        name = support_name(helper)
        self.used.add(name)
        return name

    def _walk(self, names: Sequence[str], sources: Sequence[ir.Expr]) -> Doc:
        """`names in sources`, as `for` has it."""
        return concat(", ".join(map(local_name, names)), " in ", self._walked(sources))

    def _walked(self, sources: Sequence[ir.Expr]) -> Doc:
        """What a walk goes over: one list, or several side by side."""
        walked = [self._range(x).doc if _is_range(x) else self.lower(x).doc for x in sources]
        return walked[0] if len(walked) == 1 else called("zip", walked).doc

    def _range(self, expr: ir.Call) -> Code:
        return called("range", [self.lower(a).doc for a in expr.args])

    def _fold(self, expr: ir.Fold) -> Code:
        names = [local_name(n) for n in expr.names]
        made = self.typing.type_of(expr)
        value = self.lower(expr.value, made, exact=True)
        accumulator = local_name(expr.accumulator)
        source = self._walked(expr.sources)
        if len(names) == 1:
            step = concat(f"lambda {accumulator}, {names[0]}: ", value.within(c.TERNARY))
        else:
            # A lambda takes a pair as one argument, by a name that nothing else has.
            step = concat(f"lambda {accumulator}, _: (lambda {', '.join(names)}: ", value.within(c.TERNARY), ")(*_)")
        return called("functools.reduce", [step, source, self.lower(expr.initial, made, exact=True).doc])

    # ----------------------------------------------------------------------------------------------------------- operators

    def _binary(self, expr: ir.Binary) -> Code:
        op, left, right = expr.op, expr.left, expr.right
        a, b = self.typing.type_of(left), self.typing.type_of(right)
        if op in ("&&", "||"):
            word, binding = ("and", c.AND) if op == "&&" else ("or", c.OR)
            return infix(self.truth(left).within(binding), word, self.truth(right).within(binding + 1), binding)
        for value, other in ((left, right), (right, left)):
            if isinstance(other, ir.Constant) and constant(other.name) == "None":
                return infix(self.lower(value).within(c.BIT_OR), "is" if op == "==" else "is not", "None", c.COMPARISON)
        if op in ("==", "!=") and isinstance(a, ListType | BracesType) and isinstance(b, ListType | BracesType):
            # Sizes are tuples, and no tuple is equal to a list.
            first, second = [called("list", [self.lower(x).doc]).doc for x in (left, right)]
            return infix(first, op, second, c.COMPARISON)
        if not _is_tensor(a) and not _is_tensor(b):
            whole = FLOAT not in (a, b)
            if op == "/" and whole:
                return called(self.use("truncated_quotient"), [self.lower(left).doc, self.lower(right).doc])
            if op == "%":
                return called(self.use("truncated_remainder"), [self.lower(left).doc, self.lower(right).doc])
            if op == "/" and not _is_literal(right):
                return called(self.use("quotient"), [self.lower(left).doc, self.lower(right).doc])
        sign, binding = _TENSOR_BINARY[op]
        # A comparison of a comparison is no chain in C++.
        least = binding + 1 if binding == c.COMPARISON else binding
        return infix(self.lower(left).within(least), sign, self.lower(right).within(binding + 1), binding)

    def _unary(self, expr: ir.Unary) -> Code:
        match expr.op:
            case "!":
                return self.negated(expr.operand)
            case "*":
                return self.lower(expr.operand)
            case op:
                return Code(concat(op, self.lower(expr.operand).within(c.UNARY)), c.UNARY)

    def _presence(self, expr: ir.Expr) -> ir.Expr | None:
        """What a condition asks the presence of, None where it asks something else."""
        match expr:
            case ir.Method(receiver, "defined" | "has_value", ()):
                return receiver
            case _ if isinstance(self.typing.type_of(expr), OptionalType) and not _is_tensor(self.typing.type_of(expr)):
                return expr
            case _:
                return None

    def truth(self, expr: ir.Expr) -> Code:
        """An expression where C++ wants true or false."""
        asked = self._presence(expr)
        if asked is not None:
            return infix(self.lower(asked).within(c.BIT_OR), "is not", "None", c.COMPARISON)
        made = self.lower(expr)
        if self.typing.type_of(expr) in (BOOL, UNKNOWN):
            return made
        return infix(made.within(c.BIT_OR), "!=", "0", c.COMPARISON)

    def negated(self, expr: ir.Expr) -> Code:
        """The negation of a condition."""
        asked = self._presence(expr)
        if asked is not None:
            return infix(self.lower(asked).within(c.BIT_OR), "is", "None", c.COMPARISON)
        return Code(concat("not ", self.truth(expr).within(c.NOT)), c.NOT)

    # ----------------------------------------------------------------------------------------------------- values from types

    def _braces(self, items: Sequence[ir.Expr], wanted: ValueType) -> Code:
        inner = wanted.elem if isinstance(wanted, OptionalType) else wanted
        if not items and (isinstance(wanted, OptionalType) or inner == TENSOR):
            return _NONE
        if len(items) == 1 and isinstance(items[0], ir.Braces) and isinstance(inner, ListType):
            return self._braces(items[0].items, wanted)
        if isinstance(inner, BaseType) and len(items) == 1:
            return self.lower(items[0], inner)
        elem: ValueType = inner.elem if isinstance(inner, ListType) else UNKNOWN
        return Code(bracketed("[", [self.lower(i, elem).doc for i in items], "]"))

    def _construct(self, expr: ir.Construct) -> Code:
        made = type_of_ref(expr.type)
        args = expr.args
        match made:
            case TupleType(items):
                parts = [self.lower(a, t).doc for a, t in zip(args, items, strict=False)] if args else ["None"] * len(items)
                return Code(bracketed("(", parts, ")"))
            case OptionalType(elem):
                return self.lower(args[0], elem) if args else _NONE
            case ListType(elem):
                if expr.braces:
                    return self._braces(args, made)
                if len(args) == 1 and isinstance(self.typing.type_of(args[0]), BracesType):
                    return self.lower(args[0], made)
                if not args:
                    return Code("[]")
                if self.typing.type_of(args[0]) in (INT, BOOL):
                    value = self.lower(args[1], elem) if len(args) > 1 else Code("None" if elem == TENSOR else "0")
                    return infix(concat("[", value.doc, "]"), "*", self.lower(args[0]).within(c.UNARY), c.PRODUCT)
                return self.lower(args[0], made)
            case BaseType("Tensor") if not args:
                return _NONE
            case BaseType("TensorGeometry") if len(args) == 1:
                return called(self.use("geometry_of"), [self.lower(args[0]).doc])
            case BaseType("TensorOptions") if not args:
                return Code("{}")
            case BaseType() if len(args) == 1:
                return self.lower(args[0], made)
        raise CannotLower(f"value of type `{expr.type.name}`")

    # --------------------------------------------------------------------------------------------------------------- calls

    def _call(self, expr: ir.Call, wanted: ValueType) -> Code:
        name, args = expr.function, expr.args
        bare = name.removeprefix("::").removeprefix("at::")
        if name == "std::get" and expr.template:
            return Code(concat(self.lower(args[0]).within(c.POSTFIX), f"[{expr.template[0]}]"), c.POSTFIX)
        last = name.rpartition("::")[2]
        if name == "static_cast" and len(args) == 1:
            convert = _CASTS.get(self.typing.type_of(expr))
            return called(convert, [self.lower(args[0]).doc]) if convert else self.lower(args[0])
        if last == "make_tuple":
            types = wanted.items if isinstance(wanted, TupleType) else (UNKNOWN,) * len(args)
            parts = [self.lower(a, t, exact=True).doc for a, t in zip(args, types, strict=False)]
            return Code(bracketed("(", parts, ",)" if len(args) == 1 else ")"))
        if last == "fmap" and len(args) == 2 and isinstance(args[1], ir.Lambda):
            body = self.lower(args[1].body)
            return Code(concat("[", body.doc, f" for {local_name(args[1].param)} in ", self.lower(args[0]).doc, "]"))
        if name == "std::move":
            return self.lower(args[0])
        if _is_range(expr):
            return called("list", [self._range(expr).doc])
        if bare in FUNCTIONS:
            return self._form(FUNCTIONS[bare], args)
        if last == "any_variable_defined" and len(args) == 1:
            return Code(concat("any(g is not None for g in ", self.lower(args[0]).doc, ")"))
        binding = self.typing.bindings.get(id(expr)) if self.typing.type_of(expr) is not None else None
        if binding is not None:
            if binding.signature.function is not None:
                helper = self.names[id(binding.signature.function)]
                self.helpers.add(helper)
                return called(helper, self._plain_arguments(binding, exact=True))
            if binding.signature.schema is not None:
                return self._operator(binding.signature.schema, None, binding)
            if support_name(bare) in support_functions():
                return called(self.use(bare), self._plain_arguments(binding))
        elif last in MATH_FUNCTIONS and self.typing.type_of(expr) != UNKNOWN and all(_is_literal(a) for a in args):
            return called(_MATH.get(last, f"math.{last}"), [self.lower(a).doc for a in args])
        elif not expr.template:
            made = type_of_ref(ir.TypeRef(name))
            if made is not UNKNOWN:
                return self._construct(ir.Construct(ir.TypeRef(name), args))
        raise CannotLower(f"`{name}`")

    def _method(self, expr: ir.Method) -> Code:
        receiver, name, args = expr.receiver, expr.name, expr.args
        if self._presence(expr) is receiver:
            return infix(self.lower(receiver).within(c.BIT_OR), "is not", "None", c.COMPARISON)
        type_ = self.typing.type_of(receiver)
        if isinstance(type_, OptionalType) and name in ("value", "value_or"):
            value = self.lower(receiver)
            if name == "value":
                return value
            other = self.lower(args[0], type_.elem)
            absent = concat(value.within(c.BIT_OR), " is None")
            return Code(concat(other.within(c.OR), LINE, "if ", absent, LINE, "else ", value.within(c.TERNARY)), c.TERNARY)
        if _is_tensor(type_):
            type_ = TENSOR
        elif isinstance(type_, OptionalType):
            type_ = type_.elem
        if name == "get_nested_sizes" and isinstance(receiver, ir.Call):
            return called(concat(self._receiver(receiver.args[0]), "._nested_tensor_size"), [])
        if isinstance(type_, ListType) and name == "empty":
            return Code(concat("not ", self.lower(receiver).within(c.NOT)), c.NOT)
        if isinstance(type_, ListType) and name in LIST_MEMBERS:
            return self._form(LIST_MEMBERS[name], (receiver,))
        self.typing.type_of(expr)
        binding = self.typing.bindings.get(id(expr))
        if type_ == TENSOR:
            if name in TENSOR_METADATA:
                return self._form(TENSOR_METADATA[name], (receiver, *args))
            if name == "is_same":
                return infix(self.lower(receiver).within(c.BIT_OR), "is", self.lower(args[0]).within(c.BIT_OR), c.COMPARISON)
            if name == "is_contiguous" and len(args) < 2:
                formats = [concat("memory_format=", self.lower(a).doc) for a in args]
                return called(concat(self._receiver(receiver), ".is_contiguous"), formats)
        elif isinstance(type_, BaseType) and (type_.name, name) in MEMBERS:
            return self._form(MEMBERS[type_.name, name], (receiver, *args))
        if type_ == TENSOR and binding is not None and binding.signature.schema is not None:
            return self._operator(binding.signature.schema, receiver, binding)
        raise CannotLower(f"method `{name}` of {type_}")

    def _receiver(self, expr: ir.Expr) -> Doc:
        made = self.lower(expr)
        return concat("(", made.doc, ")") if isinstance(expr, ir.Number) else made.within(c.POSTFIX)

    def _form(self, form: str, args: Sequence[ir.Expr]) -> Code:
        """A form such as `{0}.size({1})`, filled in."""
        head, paren, _ = form.partition("(")
        if paren and head in support_functions():
            self.used.add(head)
        parts: list[Doc] = []
        for text, index, _, _ in Formatter().parse(form):
            parts.append(text)
            if index is not None:
                arg = args[int(index)]
                whole = text.endswith("(") and text != "("
                parts.append(self.lower(arg).doc if whole else self._receiver(arg))
        return Code(concat(*parts), c.POSTFIX)

    def _plain_arguments(self, binding: Binding, *, exact: bool = False) -> list[Doc]:
        pairs = zip(binding.signature.parameters, binding.args, strict=True)
        return [self.lower(a, p.type, exact=exact).doc for p, a in pairs if a is not None]

    def _operator(self, schema: ir.Schema, receiver: ir.Expr | None, binding: Binding) -> Code:
        """A call of an ATen operator: by position where the schema has positions, else by name."""
        given: dict[str, Doc] = {}
        unpacked: list[Doc] = []
        for parameter, arg in zip(binding.signature.parameters, binding.args, strict=True):
            if arg is None:
                continue
            if parameter.arguments == OPTIONS_ARGUMENTS:
                unpacked += self._options(arg)
            else:
                given[parameter.arguments[0]] = self.lower(arg, parameter.type).doc
        head: Doc = callable_name(schema) if receiver is None else overload_name(schema)
        if receiver is not None:
            if is_method(schema):
                head = concat(self._receiver(receiver), f".{schema.name.base}")
                if is_property(schema):
                    return Code(head, c.POSTFIX)
            else:
                given["self"] = self.lower(receiver).doc
        rest = [a for a in schema.arguments if not (a.name == "self" and "self" not in given)]
        positional: list[Doc] = []
        by_name: list[Doc] = []
        for argument in rest:
            if argument.name not in given:
                continue
            if argument in schema.positional and len(positional) == rest.index(argument):
                positional.append(given[argument.name])
            else:
                by_name.append(named(argument.name, given[argument.name]))
        return called(head, [*positional, *by_name, *unpacked])

    def _options(self, arg: ir.Expr) -> list[Doc]:
        """Tensor options as keyword arguments."""
        type_ = self.typing.type_of(arg)
        if isinstance(arg, ir.Constant) and arg.name == "options":
            return [f"{name}={python_name(name)}" for name in OPTIONS_ARGUMENTS]
        if isinstance(arg, ir.Braces) and not arg.items:
            return []
        if isinstance(type_, BaseType) and type_ != TENSOR_OPTIONS:
            word = {"ScalarType": "dtype", "Layout": "layout", "Device": "device"}[type_.name]
            return [concat(f"{word}=", self.lower(arg).doc)]
        return [concat("**", self.lower(arg).within(c.UNARY))]


def _string(value: str) -> str:
    text = repr(value)
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text else text


def _is_tensor(type_: ValueType) -> bool:
    return type_ in (TENSOR, OptionalType(TENSOR))


def _is_range(expr: ir.Expr) -> TypeGuard[ir.Call]:
    return isinstance(expr, ir.Call) and expr.function == "range"


def _is_figures(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Number) and expr.text.isdigit() and (expr.text == "0" or expr.text[0] != "0")


def _is_literal(expr: ir.Expr) -> bool:
    """A number that is written out, and not 0."""
    match expr:
        case ir.Number(text):
            return any(d in text for d in "123456789")
        case ir.Constant(name):
            return name in CONSTANTS
        case ir.Unary("-", operand):
            return _is_literal(operand)
        case ir.Binary("*" | "/", left, right):
            return _is_literal(left) and _is_literal(right)
        case ir.Call(function, args):
            return function.rpartition("::")[2] == "sqrt" and all(_is_literal(a) for a in args)
        case _:
            return False
