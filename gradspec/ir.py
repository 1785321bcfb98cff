"""The resolved, typed program: all that a backend ever sees; no target language and no formula text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Literal, TypeAlias

from attrs import evolve, field, frozen

from gradspec.source import Span
from gradspec.types import Type

# ---------------------------------------------------------------------------------------------------------------- schemas


@frozen
class Alias:
    """An alias annotation: `(a)`, `(a!)`, `(a -> *)`, `(a|b)`."""

    before: tuple[str, ...]
    write: bool = False
    after: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = "|".join(self.before) + ("!" if self.write else "")
        return f"({text} -> {'|'.join(self.after)})" if self.after else f"({text})"


@frozen
class Argument:
    """One argument of a schema. `default` is its canonical text, None where there is none."""

    name: str
    type: Type
    default: str | None = None
    alias: Alias | None = None

    def __str__(self) -> str:
        text = f"{annotated(self.type, self.alias)} {self.name}"
        return text if self.default is None else f"{text}={self.default}"


@frozen
class Return:
    """One result of a schema; `name` is empty where the schema gives none."""

    type: Type
    name: str = ""
    alias: Alias | None = None

    def __str__(self) -> str:
        text = annotated(self.type, self.alias)
        return f"{text} {self.name}" if self.name else text


def annotated(type_: Type, alias: Alias | None) -> str:
    """A type with its alias annotation, which stands behind the innermost base name."""
    text = str(type_)
    if alias is None:
        return text
    name = next((i for i, c in enumerate(text) if c in "?["), len(text))
    return f"{text[:name]}{alias}{text[name:]}"


@frozen
class OpName:
    """`library::base.overload`; `library` is empty for ATen's own ops, `overload` where there is one form."""

    base: str
    overload: str = ""
    library: str = ""

    def __str__(self) -> str:
        text = f"{self.library}::{self.base}" if self.library else self.base
        return f"{text}.{self.overload}" if self.overload else text


_AUGMENTED_ASSIGNMENTS = frozenset(
    f"i{op}" for op in ("add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or")
)


@frozen
class Schema:
    """An operator's schema. `positional + keyword + out` are its arguments in order; `out` are keyword-only and written to."""

    name: OpName
    positional: tuple[Argument, ...]
    keyword: tuple[Argument, ...]
    out: tuple[Argument, ...]
    returns: tuple[Return, ...]

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments but the out ones."""
        return self.positional + self.keyword

    @cached_property
    def output_names(self) -> tuple[str, ...]:
        """The names that formulas use for the results: their own, else `result`, or `result0`, `result1`, ...

        The result of an in-place op is `result`; one with the name of an argument is `NAME_return`
        (torchgen.api.cpp.return_names).
        """
        if self.is_inplace:
            return ("result",) * len(self.returns)
        taken = {a.name for a in self.arguments + self.out}
        single = len(self.returns) == 1
        names = [r.name or ("result" if single else f"result{i}") for i, r in enumerate(self.returns)]
        return tuple(f"{n}_return" if n in taken and not self.out else n for n in names)

    @property
    def is_inplace(self) -> bool:
        """Whether the op is the in-place form: `add_`, `__iand__` (torchgen.model.BaseOperatorName has the rule)."""
        base = self.name.base
        if base.startswith("__") and base.endswith("__"):
            return base[2:-2] in _AUGMENTED_ASSIGNMENTS
        return base.endswith("_")

    @property
    def is_foreach(self) -> bool:
        """Whether the op repeats another one over lists; its formulas are then for one element."""
        return self.name.base.startswith("_foreach_")

    @property
    def returns_view(self) -> bool:
        """Whether a result aliases an argument that is not written to."""
        return any(r.alias is not None and not r.alias.write for r in self.returns)

    def __str__(self) -> str:
        return self.text

    @cached_property
    def text(self) -> str:
        """The canonical text."""
        parts = [str(a) for a in self.positional]
        if self.keyword or self.out:
            parts.append("*")
        parts += [str(a) for a in self.keyword + self.out]
        returns = ", ".join(map(str, self.returns))
        return f"{self.name}({', '.join(parts)}) -> {returns if len(self.returns) == 1 else f'({returns})'}"


@frozen(eq=False)
class Operator:
    """An operator that exists: its schema and whether it is a function, a method, or both."""

    schema: Schema
    has_function: bool
    has_method: bool


def no_operators(name: str) -> tuple[Operator, ...]:
    """No operator of any name: what is known of operators where nobody lists them."""
    return ()


# ------------------------------------------------------------------------------------------------------------ expressions


@frozen
class TypeRef:
    """A C++-style type in a formula: `std::vector<c10::SymInt>`; arguments may be types or integer texts."""

    name: str
    args: tuple[TypeRef | str, ...] = ()


@frozen
class Input:
    """An input of the op, by its schema name."""

    name: str
    type: Type


@frozen
class Output:
    """An output of the op, by its name (`result`, `result0`, or its own)."""

    name: str
    type: Type


@frozen
class Saved:
    """A value that the node keeps, by its member's name."""

    name: str
    type: Type


@frozen
class Cotangent:
    """The gradient of one differentiable output: `index` counts those; `name` is how the author spells it."""

    index: int
    name: str

    @property
    def form(self) -> Literal["grad", "grads", "grad_NAME"]:
        """Which of the three ways to name a gradient that is; an entry may use only one."""
        if self.name == "grad":
            return "grad"
        return "grads" if self.name.endswith("]") else "grad_NAME"


@frozen
class Cotangents:
    """The list of all gradients, `grads`."""


@frozen
class InputMask:
    """`grad_input_mask`: which inputs of this formula need a gradient, in the order of its key."""


@frozen
class RetainVariables:
    """`retain_variables`: whether buffers are kept after this backward pass."""


@frozen
class Tangent:
    """The tangent of an input, `x_t`; `original` where the op overwrites it and its old tangent is meant."""

    input: str
    original: bool = False


@frozen
class Primal:
    """The primal value of an input, `x_p`; `original` where the op overwrites it and its old value is meant."""

    input: str
    original: bool = False


@frozen
class ElementIndex:
    """The position in the lists that a foreach op walks, `i`."""


@frozen
class Local:
    """The parameter of a lambda."""

    name: str


@frozen
class Constant:
    """A name from outside of the op: `M_PI`, `at::kLong`, `std::nullopt`."""

    name: str


@frozen
class Bool:
    """`true` or `false`."""

    value: bool


@frozen
class Number:
    """A number as written, in C++ spelling."""

    text: str


@frozen
class String:
    """A string; `value` is what it means, without quotes and escapes."""

    value: str


@frozen
class Call:
    """A call of a free function, such as `at::where(a, b, c)` or `std::get<0>(pair)`."""

    function: str
    args: tuple[Expr, ...]
    template: tuple[TypeRef | str, ...] = ()


@frozen
class Method:
    """A method call; `arrow` where the receiver is dereferenced (`bias->sym_sizes()`)."""

    receiver: Expr
    name: str
    args: tuple[Expr, ...]
    arrow: bool = False
    template: tuple[TypeRef | str, ...] = ()


@frozen
class Construct:
    """A value made from a type: `std::tuple<Tensor, Tensor>()`, or with `braces` `std::vector<int64_t>{0}`."""

    type: TypeRef
    args: tuple[Expr, ...]
    braces: bool = False


@frozen
class Braces:
    """A brace list, `{1, 1}`."""

    items: tuple[Expr, ...]


@frozen
class Index:
    """`value[index]`."""

    value: Expr
    index: Expr


UnaryOperator: TypeAlias = Literal["-", "+", "!", "~", "*"]
BinaryOperator: TypeAlias = Literal[
    "*", "/", "%", "+", "-", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||"
]


@frozen
class Unary:
    """A prefix operator; `*` dereferences an optional."""

    op: UnaryOperator
    operand: Expr


@frozen
class Binary:
    """An infix operator, with C++ meaning."""

    op: BinaryOperator
    left: Expr
    right: Expr


@frozen
class Conditional:
    """`test ? then : other`."""

    test: Expr
    then: Expr
    other: Expr


@frozen
class Lambda:
    """`[](type param) { return body; }`."""

    param_type: TypeRef
    param: str
    body: Expr


Leaf: TypeAlias = (
    Input | Output | Saved | Cotangent | Cotangents | InputMask | RetainVariables | Tangent | Primal | ElementIndex | Local
    | Constant | Bool | Number | String
)  # fmt: skip
Expr: TypeAlias = Leaf | Call | Method | Construct | Braces | Index | Unary | Binary | Conditional | Lambda


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct parts of an expression, in the order in which they are written."""
    match expr:
        case Call(args=args) | Construct(args=args):
            return args
        case Method(receiver=receiver, args=args):
            return (receiver, *args)
        case Braces(items):
            return items
        case Index(value, index):
            return (value, index)
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Conditional(test, then, other):
            return (test, then, other)
        case Lambda(body=body):
            return (body,)
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all below it, each before its parts, left to right."""
    pending = [expr]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def rewrite(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with every part that `change` answers for replaced by its answer; None means: look inside."""
    answer = change(expr)
    if answer is not None:
        return answer
    match expr:
        case Call(function, args, template):
            return Call(function, tuple([rewrite(a, change) for a in args]), template)
        case Method(receiver, name, args, arrow, template):
            return Method(rewrite(receiver, change), name, tuple([rewrite(a, change) for a in args]), arrow, template)
        case Construct(type_, args, braces):
            return Construct(type_, tuple([rewrite(a, change) for a in args]), braces)
        case Braces(items):
            return Braces(tuple([rewrite(a, change) for a in items]))
        case Index(value, index):
            return Index(rewrite(value, change), rewrite(index, change))
        case Unary(op, operand):
            return Unary(op, rewrite(operand, change))
        case Binary(op, left, right):
            return Binary(op, rewrite(left, change), rewrite(right, change))
        case Conditional(test, then, other):
            return Conditional(rewrite(test, change), rewrite(then, change), rewrite(other, change))
        case Lambda(param_type, param, body):
            return Lambda(param_type, param, rewrite(body, change))
        case _:
            return expr


# ----------------------------------------------------------------------------------------------------------------- program

InputState: TypeAlias = Literal["differentiable", "non_differentiable", "unmentioned"]


@frozen
class InputInfo:
    """An input of an op and what the spec says of its gradient."""

    name: str
    type: Type
    state: InputState


@frozen
class OutputInfo:
    """An output of an op; `differentiable` where its gradient reaches the node."""

    name: str
    type: Type
    differentiable: bool


@frozen
class SavedValue:
    """What a node keeps. `value` is computed when the op runs, over its inputs or outputs.

    `overwritten`: the op writes to this input, so its value from before the write must be saved.
    """

    name: str
    type: Type
    origin: Literal["input", "output"]
    value: Expr
    overwritten: bool = False


@frozen
class Derivative:
    """A vjp: the gradients of `inputs` together. `formula` reads saved values; `written` is the same over inputs and outputs."""

    inputs: tuple[str, ...]
    formula: Expr
    written: Expr


@frozen
class Jvp:
    """Forward mode: the tangents of `outputs`, and which inputs' tangents and primals the formula reads."""

    outputs: tuple[str, ...]
    formula: Expr
    tangents: tuple[str, ...]
    primals: tuple[str, ...]
    auto: Literal["", "linear", "element_wise"] = ""


@frozen
class Op:
    """One record: a schema under one dispatch key.

    `node` is the class name of its backward node, None where it has none. `saved` lists inputs, then outputs, each by name.
    `differentiable_if`: a condition on the inputs under which the only output is differentiable.
    `foreach`: formulas stand for one element of the lists, at `ElementIndex`.
    `span` is where the spec says so (of the view or reference op, for derived ones).
    """

    schema: Schema
    dispatch: str
    node: str | None
    traceable: bool
    inputs: tuple[InputInfo, ...]
    outputs: tuple[OutputInfo, ...]
    saved: tuple[SavedValue, ...]
    derivatives: tuple[Derivative, ...]
    jvps: tuple[Jvp, ...]
    named_gradients: tuple[str, ...] = ()
    uses_retain_variables: bool = False
    differentiable_if: Expr | None = None
    foreach: bool = False
    span: Span | None = field(default=None, eq=False, repr=False)

    @property
    def name(self) -> OpName:
        """The op's name with overload."""
        return self.schema.name

    @property
    def differentiable_inputs(self) -> tuple[InputInfo, ...]:
        """The inputs that get a gradient, in schema order."""
        return tuple(i for i in self.inputs if i.state == "differentiable")


@frozen
class Program:
    """Everything one run compiles, in the order of the specs; derived ops follow.

    `operators` gives the overloads of a base name among the operators that exist: what a call in a formula may mean.
    """

    ops: tuple[Op, ...]
    operators: Callable[[str], tuple[Operator, ...]] = field(default=no_operators, eq=False, repr=False)

    def select(self, name: str) -> Program:
        """The ops called `name`, with or without overload."""
        return evolve(self, ops=tuple(o for o in self.ops if name in (str(o.name), o.name.base)))

    @property
    def nodes(self) -> tuple[Op, ...]:
        """The ops that have a backward node."""
        return tuple(o for o in self.ops if o.node is not None)


def differentiable_output_names(outputs: tuple[OutputInfo, ...]) -> tuple[str, ...]:
    """The names of the outputs whose gradients the node gets, in order."""
    return tuple(o.name for o in outputs if o.differentiable)
