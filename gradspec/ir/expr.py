"""The closed union of expressions, resolved and typed; knows no target language and no formula text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from attrs import frozen

from gradspec.types import Type


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
    """A name of the formula's own: the parameter of a lambda, or in a function a parameter, a `let`, an element of a list."""

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


@frozen
class Comprehension:
    """`[value for names in sources if test]`, in a function: a list. Several sources are walked side by side."""

    value: Expr
    names: tuple[str, ...]
    sources: tuple[Expr, ...]
    test: Expr | None = None


@frozen
class Fold:
    """`fold(accumulator = initial; names in sources; value)`, in a function: the accumulator's last value."""

    accumulator: str
    initial: Expr
    names: tuple[str, ...]
    sources: tuple[Expr, ...]
    value: Expr


Leaf: TypeAlias = (
    Input | Output | Saved | Cotangent | Cotangents | InputMask | RetainVariables | Tangent | Primal | ElementIndex | Local
    | Constant | Bool | Number | String
)  # fmt: skip
Expr: TypeAlias = (
    Leaf | Call | Method | Construct | Braces | Index | Unary | Binary | Conditional | Lambda | Comprehension | Fold
)  # fmt: skip


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
        case Comprehension(value=value, sources=sources, test=test):
            return (value, *sources) if test is None else (value, *sources, test)
        case Fold(initial=initial, sources=sources, value=value):
            return (initial, *sources, value)
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
        case Comprehension(value, names, sources, test):
            walked = tuple([rewrite(x, change) for x in sources])
            return Comprehension(rewrite(value, change), names, walked, None if test is None else rewrite(test, change))
        case Fold(accumulator, initial, names, sources, value):
            walked = tuple([rewrite(x, change) for x in sources])
            return Fold(accumulator, rewrite(initial, change), names, walked, rewrite(value, change))
        case _:
            return expr
