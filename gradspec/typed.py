"""The type of every part of a formula, the overload that each call means, what C++ would refuse; knows no text and no place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, assert_never

from attrs import Factory, define, frozen

from gradspec import ir
from gradspec.diagnostics import did_you_mean
from gradspec.habits import LIST_METHODS, POWER
from gradspec.operators import binary_type, condition_fault, number_type, unary_type
from gradspec.overloads import COMMON_METHODS, first_wrong, nearest, printed
from gradspec.signatures import Signature, Signatures, type_of_ref, value_type
from gradspec.torch_signatures import CONSTANTS
from gradspec.types import (
    BOOL,
    INT,
    STR,
    SYMINT,
    TENSOR,
    TENSOR_LIST,
    BaseType,
    ListType,
    OptionalType,
    base,
    is_tensor_like,
)
from gradspec.values import (
    FLOAT,
    LAMBDA,
    NOTHING,
    TENSOR_OPTIONS,
    UNKNOWN,
    BracesType,
    TupleType,
    ValueType,
    conversion,
    is_number,
    listed,
)

# Functions of <cmath> that take and give doubles.
MATH_FUNCTIONS = frozenset(
    "sqrt exp log pow abs fabs sin cos tan tanh floor ceil lgamma tgamma erf cbrt log2 log10 log1p expm1".split()
)
# How many parts a value may have that is put together of others: more than can be written out.
MAX_PARTS = 50_000
UNTYPED = "give the list a name first: `let list = {a, b};`"
UNDEFINED = "in a function an absent Tensor? reads as an undefined tensor: ask with `x.defined()`, and write `x` alone"
_SAME_TYPE = frozenset({"std::move", "std::min", "std::max", "std::forward"})


@frozen
class Fault:
    """Something that C++ would refuse: `expr` is the part at fault, `at` whether its name alone is meant."""

    expr: ir.Expr
    code: str
    message: str
    help: str = ""
    at: Literal["whole", "name"] = "whole"


@frozen(eq=False)
class Binding:
    """What a call means: an overload, and an argument or None for each of its parameters."""

    signature: Signature
    args: tuple[ir.Expr | None, ...]


@define
class Typing:
    """The types of one op's or function's expressions, found as they are asked for. Parts of them are told apart by identity."""

    signatures: Signatures
    types: dict[int, ValueType] = Factory(dict)
    bindings: dict[int, Binding] = Factory(dict)
    faults: list[Fault] = Factory(list)
    locals: dict[str, ValueType] = Factory(dict)

    def type_of(self, expr: ir.Expr) -> ValueType:
        """The type of an expression, UNKNOWN where it depends on what nobody knows here; what is wrong in it goes to `faults`."""
        known = self.types.get(id(expr))
        if known is None:
            known = self.types[id(expr)] = self._infer(expr)
        return known

    def _infer(self, expr: ir.Expr) -> ValueType:
        match expr:
            case ir.Saved(type=type_) | ir.Input(type=type_) | ir.Output(type=type_):
                return type_
            case ir.Cotangent() | ir.Tangent() | ir.Primal():
                return TENSOR
            case ir.Number(text):
                return number_type(text)
            case ir.Method():
                return self._method(expr)
            case ir.Call():
                return self._call(expr)
            case ir.Binary(op, left, right):
                a, b = self.type_of(left), self.type_of(right)
                for side, of_side in ((left, a), (right, b)):
                    if isinstance(of_side, BracesType):
                        self._fault(side, "GS0904", f"braces are no operand of `{op}`", UNTYPED)
                        return UNKNOWN
                found = binary_type(op, a, b)
                if NOTHING in (a, b) and (self._reads_undefined(left) or self._reads_undefined(right)):
                    self._fault(expr, "GS0904", "a Tensor? is no `nullopt` where it is absent", UNDEFINED)
                if found is None:
                    found = UNKNOWN
                    self._fault(expr, "GS0904", f"C++ has no `{op}` of {a} and {b}", _operator_help(a, b, expr))
                return found
            case ir.Unary(op, operand):
                a = self.type_of(operand)
                found = None if op == "*" and self._reads_undefined(operand) else unary_type(op, a)
                if found is None:
                    found = UNKNOWN
                    multiplied = UNDEFINED if a == OptionalType(TENSOR) else POWER
                    help_ = condition_fault(a) if op == "!" else multiplied if op == "*" else ""
                    self._fault(expr, "GS0904", f"C++ has no `{op}` of {a}", help_)
                return found
            case ir.Conditional(test, then, other):
                return self._conditional(expr, test, then, other)
            case ir.Index(value, index):
                return self._index(expr, value, index)
            case ir.Cotangents():
                return TENSOR_LIST
            case ir.Constant(name):
                if self.signatures.is_own(name):
                    self._fault(expr, "GS0903", f"`{name}` is a function, and no value", f"call it: `{name}(...)`")
                return _constant_type(name)
            case ir.Bool() | ir.RetainVariables():
                return BOOL
            case ir.String():
                return STR
            case ir.InputMask():
                return ListType(BOOL)
            case ir.ElementIndex():
                return INT
            case ir.Local(name):
                return self.locals.get(name, UNKNOWN)
            case ir.Braces(items):
                return self._of_parts(expr, BracesType(tuple([self.type_of(i) for i in items])))
            case ir.Construct(ref, args):
                for arg in args:
                    self.type_of(arg)
                return type_of_ref(ref)
            case ir.Lambda(ref, param, body):
                outer = self.locals
                self.locals = {**outer, param: type_of_ref(ref)}
                self.type_of(body)
                self.locals = outer
                return LAMBDA
            case ir.Comprehension(value, names, sources, test):
                self._walk(expr, names, sources)
                if test is not None:
                    self.check_condition(test)
                elem = self.type_of(value)
                return ListType(elem) if isinstance(elem, BaseType | ListType | OptionalType) else UNKNOWN
            case ir.Fold():
                return self._fold(expr)
            case _:
                assert_never(expr)

    def _fault(self, expr: ir.Expr, code: str, message: str, help: str = "", at: Literal["whole", "name"] = "whole") -> None:
        self.faults.append(Fault(expr, code, message, help, at))

    # ------------------------------------------------------------------------------------------------------------ parts

    def _of_parts(self, expr: ir.Expr, made: TupleType | BracesType) -> ValueType:
        """The type of a value made of others, if it is small enough: one made of itself twice, many times, has no end."""
        if made.size <= MAX_PARTS:
            return made
        self._fault(
            expr, "GS0801", f"a value of more than {MAX_PARTS:,} parts", "name its parts instead of putting them together"
        )
        return UNKNOWN

    def check_condition(self, test: ir.Expr) -> None:
        """Note a fault where an expression is neither true nor false."""
        why = condition_fault(self.type_of(test))
        if why:
            self._fault(test, "GS0904", f"a condition is true or false, this is {self.type_of(test)}", why)

    def named(self, value: ir.Expr) -> ValueType:
        """The type of a value that gets a name, or is walked over: of braces it must be a list of something."""
        type_ = self.type_of(value)
        made = listed(type_)
        if made is UNKNOWN and isinstance(type_, BracesType) and UNKNOWN not in type_.items:
            what = f"{type_} has no type that is that of each part" if type_.items else "nothing says what `{}` is a list of"
            self._fault(value, "GS0903", what, "write it where a parameter takes it, or `std::vector<Tensor>{...}`")
        return made

    def _walk(self, expr: ir.Expr, names: tuple[str, ...], sources: tuple[ir.Expr, ...]) -> None:
        """Give the names of a walk over lists their types."""
        types = [self.named(x) for x in sources]
        for source, type_ in zip(sources, types, strict=True):
            if not isinstance(type_, ListType) and type_ is not UNKNOWN:
                self._fault(source, "GS0903", f"a walk is over a list, this is {type_}", "for numbers write `range(n)`")
        if len(names) != len(types):
            help_ = "lists are walked side by side by `x, y in zip(xs, ys)`"
            self._fault(expr, "GS0903", f"there are {len(names)} names for the elements of {len(types)}", help_)
        for name, type_ in zip(names, types, strict=False):
            self.locals[name] = type_.elem if isinstance(type_, ListType) else UNKNOWN

    def _fold(self, expr: ir.Fold) -> ValueType:
        self._walk(expr, expr.names, expr.sources)
        first = listed(made) if isinstance(made := self.type_of(expr.initial), BracesType) and made.items else made
        self.locals[expr.accumulator] = first
        faults = len(self.faults)
        last = self.type_of(expr.value)
        if last != first and is_number(first) and is_number(last) and conversion(last, first) is not None:
            # What it becomes is what it is from the first step on.
            del self.faults[faults:]
            for part in ir.walk(expr.value):
                self.types.pop(id(part), None)
            first = self.locals[expr.accumulator] = last
            last = self.type_of(expr.value)
        if conversion(first, last) is None:
            self._fault(expr.value, "GS0903", f"`{expr.accumulator}` begins as {first}, and becomes {last}")
            return UNKNOWN
        return first

    def _conditional(self, expr: ir.Expr, test: ir.Expr, then: ir.Expr, other: ir.Expr) -> ValueType:
        self.check_condition(test)
        first, second = self.type_of(then), self.type_of(other)
        if first == second or second is UNKNOWN or second is NOTHING or isinstance(second, BracesType):
            return OptionalType(first) if second is NOTHING and isinstance(first, BaseType) else first
        if first is UNKNOWN or first is NOTHING or isinstance(first, BracesType):
            return second
        if is_number(first) and is_number(second):
            return next(t for t in (FLOAT, SYMINT, INT, BOOL) if t in (first, second))
        if {first, second} == {TENSOR, OptionalType(TENSOR)}:
            return TENSOR
        plain = isinstance(first, BaseType) and isinstance(second, BaseType)
        if plain and conversion(first, second) is None and conversion(second, first) is None:
            self._fault(expr, "GS0904", f"a choice is one type, this is {first} or {second}")
        return UNKNOWN

    def _reads_undefined(self, value: ir.Expr) -> bool:
        """Whether it is a name in a function for a tensor that is undefined where it is absent."""
        return isinstance(value, ir.Local) and self.type_of(value) == OptionalType(TENSOR)

    def _index(self, expr: ir.Index, value: ir.Expr, index: ir.Expr) -> ValueType:
        type_ = self.type_of(value)
        at = self.type_of(index)
        match type_:
            case ListType(elem):
                if conversion(INT, at) is None and conversion(base("SymInt"), at) is None:
                    self._fault(index, "GS0903", f"an index is a whole number, this is {at}")
                elif isinstance(index, ir.Unary) and index.op == "-" and isinstance(index.operand, ir.Number):
                    self._fault(index, "GS0903", "a list is counted from 0", "its last element is `xs.back()`")
                return elem
            case BaseType("Tensor"):
                if conversion(base("Scalar"), at) is None and conversion(TENSOR, at) is None:
                    self._fault(index, "GS0903", f"an index of a tensor is a number or a tensor, this is {at}")
                return TENSOR
            case BracesType():
                self._fault(expr, "GS0904", "braces cannot be indexed", UNTYPED)
            case BaseType() | TupleType():
                help_ = "write `std::get<i>(value)`" if isinstance(type_, TupleType) else ""
                self._fault(expr, "GS0904", f"{type_} cannot be indexed", help_)
        return UNKNOWN

    def _method(self, expr: ir.Method) -> ValueType:
        receiver = self.type_of(expr.receiver)
        name = expr.name
        given = [self.type_of(a) for a in expr.args]
        if self._reads_undefined(expr.receiver) and (expr.arrow or name in ("has_value", "value", "value_or")):
            self._fault(expr, "GS0901", f"a Tensor? has no `{'->' if expr.arrow else ''}{name}`", UNDEFINED, "name")
            return UNKNOWN
        if receiver == TENSOR and expr.arrow and isinstance(expr.receiver, ir.Local):
            self._fault(expr, "GS0901", f"a Tensor has no `->{name}`", f"write `.{name}(...)`", "name")
        match receiver:
            case BaseType("Tensor"):
                pass
            case OptionalType(elem):
                if name in ("has_value", "value", "value_or"):
                    self._check_count(expr, 1 if name == "value_or" else 0)
                    return BOOL if name == "has_value" else elem
                if is_tensor_like(elem):
                    receiver = TENSOR
                elif expr.arrow:
                    receiver = elem
                else:
                    self._fault(expr, "GS0901", f"{receiver} has no method `{name}`", "read its value first: `value()`", "name")
                    return UNKNOWN
            case ListType(elem):
                return self._list_method(expr, receiver, elem)
            case BaseType():
                pass
            case BracesType() | TupleType():
                help_ = UNTYPED if isinstance(receiver, BracesType) else "its parts are `std::get<0>(value)` and so on"
                self._fault(expr, "GS0901", f"{receiver} has no method `{name}`", help_, "name")
                return UNKNOWN
            case _:
                return UNKNOWN
        if expr.template:
            return UNKNOWN
        assert isinstance(receiver, BaseType | ListType | OptionalType)
        candidates = self.signatures.methods(str(receiver), name)
        if candidates:
            return self._bind(expr, given, candidates, f"{name}()")
        if receiver != TENSOR or self.signatures.knows_operators:
            self._fault_of_method(expr, str(receiver))
        return UNKNOWN

    def _fault_of_method(self, expr: ir.Method, receiver: str) -> None:
        known = [*self.signatures.method_names(receiver)]
        if receiver == "Tensor":
            if self.signatures.functions(f"at::{expr.name}"):
                help_ = f"it is a function: write `at::{expr.name}(...)`"
                return self._fault(expr, "GS0901", f"Tensor has no method `{expr.name}`", help_, "name")
            known += COMMON_METHODS
        self._fault(expr, "GS0901", f"{receiver} has no method `{expr.name}`", did_you_mean(expr.name, known), "name")

    def _check_count(self, expr: ir.Call | ir.Method, least: int, most: int | None = None) -> bool:
        """Whether a call has as many arguments as it takes; note a fault where not."""
        most = least if most is None else most
        count, name = len(expr.args), expr.name if isinstance(expr, ir.Method) else expr.function
        if least <= count <= most:
            return True
        wanted = f"{least}" if least == most else f"{least} or {most}"
        self._fault(expr, "GS0902", f"`{name}()` takes {wanted} argument{'' if most == 1 else 's'}, here are {count}", "", "name")
        return False

    def _list_method(self, expr: ir.Method, list_: ListType, elem: ValueType) -> ValueType:
        if expr.name in _LIST_COUNTS:
            self._check_count(expr, *_LIST_COUNTS[expr.name])
        match expr.name:
            case "size":
                return INT
            case "empty":
                return BOOL
            case "vec" | "slice":
                return list_
            case "back" | "front" | "get":
                return elem
            case "data" | "begin" | "end" | "rbegin" | "rend":
                return UNKNOWN
        help_ = LIST_METHODS.get(expr.name) or did_you_mean(expr.name, _LIST_COUNTS)
        self._fault(expr, "GS0901", f"{list_} has no method `{expr.name}`", help_, "name")
        return UNKNOWN

    def _call(self, expr: ir.Call) -> ValueType:
        name = expr.function
        given = [self.type_of(a) for a in expr.args]
        if expr.template:
            return self._template_call(expr, given)
        last = name.rpartition("::")[2]
        if last == "make_tuple":
            return self._of_parts(expr, TupleType(tuple(given)))
        if last == "fmap" and len(given) == 2 and isinstance(mapped := expr.args[1], ir.Lambda):
            elem = self.type_of(mapped.body)
            return ListType(elem) if isinstance(elem, BaseType | ListType | OptionalType) else UNKNOWN
        if name == "range":
            self._check_count(expr, 1, 2)
            for arg, type_ in zip(expr.args, given, strict=True):
                if conversion(INT, type_) is None:
                    self._fault(arg, "GS0903", f"a range goes to a whole number, this is {type_}")
            return ListType(INT)
        if name in _SAME_TYPE:
            count = 2 if name in ("std::min", "std::max") else 1
            return given[0] if self._check_count(expr, count) else UNKNOWN
        if last in MATH_FUNCTIONS and given and all(is_number(t) for t in given):
            self._check_count(expr, 2 if last == "pow" else 1)
            return given[0] if last == "abs" and given[0] in (INT, SYMINT) else FLOAT
        if name.startswith(("std::", "at::native::", "c10::", "torch::")):
            return UNKNOWN
        candidates = self.signatures.functions(name)
        if candidates:
            return self._bind(expr, given, candidates, f"{name}()")
        made = type_of_ref(ir.TypeRef(name))
        if made == TENSOR and any(is_number(t) or t == STR for t in given):
            help_ = "a tensor of a number is `at::scalar_tensor(n)`"
            self._fault(expr, "GS0903", f"no tensor is made of {given[0]}", help_)
        return made

    def _template_call(self, expr: ir.Call, given: Sequence[ValueType]) -> ValueType:
        if expr.function == "static_cast":
            return type_of_ref(expr.template[0])
        if expr.function != "std::get" or not self._check_count(expr, 1):
            return UNKNOWN
        if not isinstance(expr.template[0], str):
            self._fault(expr, "GS0903", "`std::get` takes a part by its number", "write `std::get<0>(value)`")
            return UNKNOWN
        index, (value,) = int(expr.template[0]), given
        if not isinstance(value, TupleType):
            if value is not UNKNOWN and not isinstance(value, ListType):
                self._fault(expr.args[0], "GS0903", f"`std::get` reads a tuple, this is {value}")
            return UNKNOWN
        if index >= len(value.items):
            self._fault(expr, "GS0903", f"`std::get<{index}>` of {len(value.items)} values", "indices begin at 0")
            return UNKNOWN
        return value.items[index]

    # ----------------------------------------------------------------------------------------------------------- overloads

    def _bind(self, expr: ir.Call | ir.Method, given: list[ValueType], candidates: Sequence[Signature], shown: str) -> ValueType:
        """Choose the overload whose parameters are nearest to the arguments, and say what is wrong where none takes them."""
        best, unsure = nearest(candidates, given)
        if best is None:
            self._fault_of_arguments(expr, given, candidates, shown)
            results = {str(c.result) for c in candidates}
            return candidates[0].result if len(results) == 1 else UNKNOWN
        if unsure:
            return UNKNOWN
        rest = (None,) * (len(best.parameters) - len(given))
        self.bindings[id(expr)] = Binding(best, (*expr.args, *rest))
        return best.result

    def _fault_of_arguments(
        self, expr: ir.Call | ir.Method, given: list[ValueType], candidates: Sequence[Signature], shown: str
    ) -> None:
        help_ = "it is declared as:\n" + "\n".join(sorted({f"       {printed(c)}" for c in candidates})[:4])
        counted = [c for c in candidates if c.required <= len(given) <= len(c.parameters)]
        if not counted:
            counts = sorted({n for c in candidates for n in range(c.required, len(c.parameters) + 1)})
            wanted = " or ".join(map(str, counts)) if len(counts) < 4 else f"{counts[0]} to {counts[-1]}"
            message = f"`{shown}` takes {wanted} argument{'' if wanted == '1' else 's'}, here are {len(given)}"
            if len(given) > counts[-1]:
                self._fault(expr.args[counts[-1]], "GS0902", message, help_)
            else:
                self._fault(expr, "GS0902", message, help_, "name")
            return
        # The overload that goes along furthest is the one that was meant.
        signature, wrong = max(((c, first_wrong(c, given)) for c in counted), key=lambda pair: pair[1])
        parameter = signature.parameters[wrong]
        message = f"`{parameter.name}` of `{shown}` is {parameter.type}, this is {given[wrong]}"
        symbolic = "SymInt" in str(given[wrong]) and "SymInt" not in str(parameter.type)
        name = f"{signature.name}_symint"
        if symbolic and (self.signatures.methods("Tensor", name) or self.signatures.functions(f"at::{name}")):
            help_ = f"write `{name}` to hand on symbolic ints"
        elif "SymInt" in str(parameter.type) and "SymInt" not in str(given[wrong]) and isinstance(given[wrong], ListType):
            plain = signature.name.removesuffix("_symint")
            help_ = f"write `{plain}` for plain ints" if plain != signature.name else ""
            help_ = f"{help_}{'; ' if help_ else ''}say `SymInt[]` where the list comes from, and it may be either"
        self._fault(expr.args[wrong], "GS0903", message, help_)


_LIST_COUNTS = {"size": (0,), "empty": (0,), "vec": (0,), "back": (0,), "front": (0,), "get": (1,), "slice": (1, 2)}


def _operator_help(a: ValueType, b: ValueType, expr: ir.Binary) -> str:
    for type_, part in ((a, expr.left), (b, expr.right)):
        if isinstance(type_, OptionalType) and isinstance(part, ir.Input):
            name = part.name
            return f"`{name}` may be absent: read it as `*{name}` where `{name}.has_value()`, or as `{name}.value_or(...)`"
    if base("Scalar") in (a, b):
        return "a Scalar may be complex and has no arithmetic of its own: take `toDouble()`, or compute with tensors"
    return ""


def _constant_type(name: str) -> ValueType:
    bare = name.removeprefix("::")
    for prefix in ("at::", "c10::", "std::", "torch::"):
        bare = bare.removeprefix(prefix)
    if bare in CONSTANTS:
        return value_type(CONSTANTS[bare])
    if bare == "options":
        return TENSOR_OPTIONS
    kind = bare.rpartition("::")[0]
    return base(kind) if kind in ("ScalarType", "MemoryFormat", "Layout") else UNKNOWN
