"""Formula names to IR: one formula of one op at a time; knows the op's names, not the rules that span an entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TypeGuard, cast

from attrs import Factory, define

from gradspec import ir
from gradspec import syntax as s
from gradspec.diagnostics import Diagnostics
from gradspec.functions import BUILTIN_FUNCTIONS, CONCRETE_METHODS, CONSTANTS, OPEN_NAMESPACES, TORCH_HELPERS
from gradspec.habits import FOREIGN_FUNCTIONS, FOREIGN_NAMES
from gradspec.names import WORDS
from gradspec.op_table import OpTable
from gradspec.saved import PROPERTY_METHODS, property_of
from gradspec.types import OPTIONAL_TENSOR, Type, is_tensor_like, is_tensor_list


@define
class Scope:
    """What the names of one formula mean.

    `forward`: a jvp, where differentiable inputs are read as `x_t` and `x_p`; else a vjp, where gradients are read.
    `before`: what it is, where it stands for something before the op runs and reads inputs alone: a condition on them, or what
    the op itself computes. Else empty.
    `masked`: how many inputs `grad_input_mask` counts, None where there is no such mask.
    `unread`: a formula of the entry could not be read, and was reported.
    `foreach`: the formula is for one element of the op's lists, and `i` is its position.
    `function`: it stands in a function: no op is there, names are its `locals`, and lists may be made and folded.
    """

    schema: ir.Schema
    inputs: Mapping[str, Type]
    outputs: Mapping[str, Type]
    differentiable_inputs: frozenset[str]
    differentiable_outputs: tuple[str, ...]
    table: OpTable
    externs: frozenset[str]
    diagnostics: Diagnostics
    forward: bool
    masked: int | None
    foreach: bool
    formula: s.Formula
    before: str = ""
    unread: bool = False
    locals: set[str] = Factory(set)
    function: bool = False
    gradients_used: list[tuple[s.Expr, ir.Cotangent | ir.Cotangents]] = Factory(list)

    def resolve(self, expr: s.Expr) -> ir.Expr:
        """The IR of an expression; what is wrong in it is reported, and something harmless stands in its place."""
        match expr:
            case s.Name():
                return self._name(expr)
            case s.Number(text=text):
                return ir.Number(text)
            case s.String(value=value):
                return ir.String(value)
            case s.Call(function=function, template=template, args=args):
                self._check_function(function, bool(template))
                return ir.Call(function.text, tuple([self.resolve(a) for a in args]), template)
            case s.Method():
                return self._method(expr)
            case s.Construct(type=type_, args=args, braces=braces):
                return ir.Construct(type_, tuple([self.resolve(a) for a in args]), braces)
            case s.Braces(items=items):
                return ir.Braces(tuple([self.resolve(a) for a in items]))
            case s.Index():
                return self._index(expr)
            case s.Unary(op=op, operand=operand):
                inner = self.resolve(operand)
                if op == "*" and self._reads_undefined(inner):
                    help_ = _absent_help(self._text(operand))
                    self._report("GS0904", f"`{self._text(operand)}` is Tensor?, and nothing to dereference", expr, help=help_)
                return ir.Unary(op, inner)
            case s.Binary(op=op, left=left, right=right):
                first, second = self.resolve(left), self.resolve(right)
                for side, other, at in ((first, second, left), (second, first, right)):
                    if self._reads_undefined(side) and isinstance(other, ir.Constant) and other.name.endswith("nullopt"):
                        message = f"`{self._text(at)}` is Tensor?, and no `{other.name}` where it is absent"
                        self._report("GS0904", message, expr, help=_absent_help(self._text(at)))
                return ir.Binary(op, first, second)
            case s.Conditional(test=test, then=then, other=other):
                return ir.Conditional(self.resolve(test), self.resolve(then), self.resolve(other))
            case s.Lambda(param_type=param_type, param=param, body=body):
                return ir.Lambda(param_type, param.text, self._inside(body, (param,), again=not self.function))
            case s.Comprehension(value=value, names=names, sources=sources, test=test):
                self._check_stands_in_function("a list made of another one", expr)
                walked = tuple([self.resolve(x) for x in sources])
                made = self._inside(value, names)
                condition = None if test is None else self._inside(test, names, again=True)
                return ir.Comprehension(made, tuple([n.text for n in names]), walked, condition)
            case s.Fold(accumulator=accumulator, initial=initial, names=names, sources=sources, value=value):
                self._check_stands_in_function("`fold`", expr)
                start = self.resolve(initial)
                walked = tuple([self.resolve(x) for x in sources])
                last = self._inside(value, (accumulator, *names))
                return ir.Fold(accumulator.text, start, tuple([n.text for n in names]), walked, last)

    def _inside(self, expr: s.Expr, names: tuple[s.Name, ...], *, again: bool = False) -> ir.Expr:
        """An expression that sees more names; `again` where these were looked at before."""
        added: set[str] = set()
        for name in names:
            if not again:
                self.check_new(name)
            if name.text not in self.locals:
                added.add(name.text)
                self.locals.add(name.text)
        resolved = self.resolve(expr)
        self.locals -= added
        return resolved

    def check_new(self, name: s.Name) -> None:
        """Report a name that means something already."""
        if self.function and name.text in WORDS:
            self._report("GS0411", f"`{name.text}` is a word of the language", name, help="choose another name")
            return
        if name.text in self.locals or name.text in self.inputs or name.text in self.outputs:
            help_ = "a name means one thing in a formula or function: choose another one"
            self._report("GS0411", f"`{name.text}` has a meaning here already", name, help=help_)

    def _check_stands_in_function(self, what: str, node: s.Expr) -> None:
        if not self.function:
            help_ = "write a function, `fn name(Tensor[] grads) -> Tensor { ... }`, and call it"
            self._report("GS0410", f"{what} stands only in a function", node, help=help_)

    def _name(self, node: s.Name) -> ir.Expr:
        text = node.text
        if text in self.locals:
            return ir.Local(text)
        if text == "grad" and text in self.inputs:
            message = f"`grad` is reserved: it would mean the output's gradient, not the argument of `{self.schema.name}`"
            self._report("GS0310", message, node, help="rename the argument")
            return ir.Constant(text)
        if text in self.inputs and (meaning := self._other_meaning(text)):
            message = f"`{text}` is an argument of `{self.schema.name}`, and in formulas {meaning}"
            self._report("GS0310", message, node, help="rename the argument")
            return ir.Constant(text)
        if text == "i" and self.foreach and text not in self.inputs:
            return ir.ElementIndex()
        if text in self.inputs:
            return self._input(node)
        if text in self.outputs and not self.before:
            return ir.Output(text, self.outputs[text])
        if text in ("true", "false"):
            return ir.Bool(text == "true")
        if self.function:
            return self._outside_name(node)
        if self.before and (text in self.outputs or text.startswith("grad_") and text[5:] in self._named_outputs):
            return self._gradient_word(node)
        if text in ("grad", "grads", "grad_input_mask", "retain_variables"):
            return self._gradient_word(node)
        if self.forward:
            moving = self._tangent_or_primal(text)
            if isinstance(moving, ir.Primal) and not moving.original and moving.input in self._overwritten:
                help_ = f"`original_{text}` is the one before; where the new value is meant, write `result`"
                self._report("GS0608", f"`{text}` is the value after the write", node, help=help_)
            if moving is not None:
                return moving
        elif text.startswith("grad_") and text[5:] in self._named_outputs:
            return self._named_gradient(node)
        return self._outside_name(node)

    def _outside_name(self, node: s.Name) -> ir.Expr:
        """A name that is none of the op's."""
        text = node.text
        qualified = text.removeprefix("::")
        namespace = qualified.rpartition("::")[0]
        if qualified in CONSTANTS or qualified in self.externs or _is_open(namespace) or f"{namespace}::".startswith("at::"):
            return ir.Constant(text)
        self._unknown(node)
        return ir.Constant(text)

    def _other_meaning(self, text: str) -> str:
        """What a name means in formulas by the way it is made, empty where nothing."""
        if self.before:
            return ""
        if self.forward:
            name = self._moving(text)[0]
            return f"the {'tangent' if text.endswith('_t') else 'primal value'} of `{name}`" if name else ""
        output = text.removeprefix("grad_")
        named = output != text and output in self.differentiable_outputs and output in self._named_outputs
        return f"the gradient of the output `{output}`" if named else ""

    def _input(self, node: s.Name) -> ir.Expr:
        text = node.text
        type_ = self.inputs[text]
        if self.forward and text in self.differentiable_inputs and not is_tensor_list(type_):
            help_ = f"write `{text}_p` for its primal value, `{text}_t` for its tangent"
            self._report("GS0404", f"`{text}` alone is ambiguous in a forward formula", node, help=help_)
        return ir.Input(text, type_)

    def _gradient_word(self, node: s.Name) -> ir.Expr:
        text = node.text
        if self.before:
            help_ = "it stands before the op runs: only inputs are there"
            self._report("GS0403", f"`{text}` has no meaning in {self.before}", node, help=help_)
            return ir.Constant(text)
        if self.forward:
            help_ = "tangents are `x_t`, primal values `x_p`" if text.startswith("grad") else ""
            self._report("GS0403", f"`{text}` has no meaning in a forward formula", node, help=help_)
            return ir.Constant(text)
        if text == "grad":
            return self._used(node, ir.Cotangent(0, "grad"))
        if text == "grads":
            return self._used(node, ir.Cotangents())
        if text == "retain_variables":
            return ir.RetainVariables()
        if self.masked is None:
            help_ = "the engine asks for this formula only when its input needs a gradient"
            self._report("GS0509", "`grad_input_mask` stands only in a formula of several inputs", node, help=help_)
        return ir.InputMask()

    def _used(self, node: s.Expr, gradient: ir.Cotangent | ir.Cotangents) -> ir.Expr:
        self.gradients_used.append((node, gradient))
        return gradient

    def _named_gradient(self, node: s.Name) -> ir.Expr:
        output = node.text[5:]
        if output not in self.differentiable_outputs:
            named = [f"`grad_{n}`" for n in self.differentiable_outputs if n in self._named_outputs]
            help_ = f"gradients come for {', '.join(named)}" if named else "no output of this op is differentiable"
            self._report("GS0504", f"`{output}` is not a differentiable output of `{self.schema.name}`", node, help=help_)
            return ir.Constant(node.text)
        return self._used(node, ir.Cotangent(self.differentiable_outputs.index(output), node.text))

    def _tangent_or_primal(self, text: str) -> ir.Expr | None:
        name, original = self._moving(text)
        if not name:
            return None
        return ir.Tangent(name, original) if text.endswith("_t") else ir.Primal(name, original)

    @property
    def _overwritten(self) -> set[str]:
        """The arguments that an in-place op writes to."""
        return (
            {a.name for a in self.schema.arguments if a.alias is not None and a.alias.write} if self.schema.is_inplace else set()
        )

    @property
    def _named_outputs(self) -> set[str]:
        """The outputs that the schema itself names: only they have a `grad_NAME`."""
        return {r.name for r in self.schema.returns if r.name}

    def _moving(self, text: str) -> tuple[str, bool]:
        """The differentiable input that `x_t`, `x_p` or, in an in-place op, `original_x_p` reads, and whether it is that."""
        original = text.startswith("original_") and self.schema.is_inplace
        stem = text.removeprefix("original_") if original else text
        name, underscore, kind = stem.rpartition("_")
        known = underscore and kind in ("t", "p") and name in self.differentiable_inputs
        return (name, original) if known else ("", False)

    def _unknown(self, node: s.Name) -> None:
        text = node.text
        name, _, kind = (text if self.forward else text.removeprefix("original_")).rpartition("_")
        if kind in ("t", "p") and name in self.inputs:
            if not self.forward:
                what = "tangent" if kind == "t" else "primal value"
                help_ = (
                    "a backward formula reads the input itself"
                    if kind == "p"
                    else "write a formula for an output to give the jvp"
                )
                self._report("GS0403", f"`{text}`, the {what} of `{name}`, is known only in forward formulas", node, help=help_)
                return
            if self.unread and is_tensor_like(self.inputs[name]):
                return  # its formula may be the one that cannot be read
            if is_tensor_like(self.inputs[name]) and kind == "p":
                help_ = f"write `{name}`: only inputs with a backward formula have a primal value apart"
            elif is_tensor_like(self.inputs[name]):
                help_ = "only inputs with a backward formula have a tangent"
            else:
                help_ = f"`{name}` is {self.inputs[name]}: read it as `{name}`"
            self._report("GS0401", f"`{text}`: `{name}` is not differentiable here", node, help=help_)
            return
        if "::" in text:
            help_ = (
                f"if it is a constant of your own, declare it: `extern {text};` in .grad, `--extern {text}` on the command line"
            )
            self._report("GS0401", f"unknown name `{text}`", node, help=help_)
            return
        if text in TORCH_HELPERS:
            call = f'{text}("{self.schema.name.base}")' if text.startswith("not_implemented") else f"{text}(...)"
            self._report("GS0401", f"`{text}` is a function", node, help=f"call it: `{call}`")
            return
        if text in FOREIGN_NAMES:
            self._report("GS0401", f"unknown name `{text}`", node, help=FOREIGN_NAMES[text])
            return
        known = {*self.inputs, *self.outputs, *self.locals}
        if node is self.formula.value and not self.before and not self.function:
            known |= {"non_differentiable", "auto_linear", "auto_element_wise"}
        if self.before or self.function:
            pass
        elif self.forward:
            known |= {f"{n}_{k}" for n in self.differentiable_inputs for k in "tp"}
        else:
            known |= {"grad", "grads", *(f"grad_{n}" for n in self.differentiable_outputs if n in self._named_outputs)}
            known |= {"grad_input_mask"} if self.masked else set()
        label = f"not an input, an output or a {'tangent' if self.forward else 'gradient'} of `{self.schema.name}`"
        if self.function:
            label = f"no parameter of `{self.schema.name}`, and no `let` before"
        elif self.before:
            label = f"not an input of `{self.schema.name}`"
        help_ = self.diagnostics.suggest(text, {*known, *CONSTANTS, "true", "false"}) or f"known here: {_listed(known)}"
        self._report("GS0401", f"unknown name `{text}`", node, label=label, help=help_)

    def _index(self, node: s.Index) -> ir.Expr:
        index = self.resolve(node.index)
        match node.value:
            case s.Name(text="grads") if self._reads_gradients and _is_fixed(index):
                if not _is_plain(index):
                    message = f"`{self._text(node.index)}` is no index of `grads`"
                    self._report("GS0501", message, node.index, help="write a plain number from 0 on")
                    return self._used(node.value, ir.Cotangents())
                return self._used(node, ir.Cotangent(int(index.text), f"grads[{index.text}]"))
            case s.Name(text="grad_input_mask") if self.masked is not None and _is_fixed(index):
                if not _is_plain(index) or int(index.text) >= self.masked:
                    message = f"index {self._text(node.index)} of `grad_input_mask`, which has {self.masked} values here"
                    self._report(
                        "GS0508", message, node.index, help="it has one value for each name of the formula's key, in that order"
                    )
        return ir.Index(self.resolve(node.value), index)

    @property
    def _reads_gradients(self) -> bool:
        return not self.forward and not self.before and not self.function and "grads" not in self.inputs

    def _method(self, node: s.Method) -> ir.Expr:
        name = node.name.text
        args = tuple([self.resolve(a) for a in node.args])
        # `size()` of a list takes nothing, that of a tensor a dimension.
        if not self.forward and not self.function and name in CONCRETE_METHODS and len(args) == (1 if name == "size" else 0):
            written = f"{CONCRETE_METHODS[name]}({self._text(node.args[0]) if node.args else ''})"
            message = f"`{name}` freezes a dynamic shape into the backward graph"
            place = self.formula.excerpt.place(node.name.start, node.end)
            self.diagnostics.add("GS0405", message, place, help=f"write `{written}`")
        self._check_changes_nothing(node.name)
        receiver = self.resolve(node.receiver)
        if not self.forward and not node.arrow and isinstance(receiver, ir.Input) and receiver.type == OPTIONAL_TENSOR:
            if name == "sym_sizes":
                message = f"`{receiver.name}` is Tensor?: its sizes can only be saved if it is there"
                self._report("GS0407", message, node, help=f"write `{receiver.name}->sym_sizes()`")
            elif name in PROPERTY_METHODS:
                message = f"`{receiver.name}` is Tensor?: `{name}()` cannot be saved where it is absent"
                self._report(
                    "GS0407", message, node, help=f"only `{receiver.name}->sym_sizes()` can be saved of an optional tensor"
                )
        method = ir.Method(receiver, name, args, node.arrow, node.template)
        asks_optional = name in ("has_value", "value", "value_or") or (node.arrow and property_of(method) is None)
        # What is frozen into the graph has its own message.
        if asks_optional and name not in CONCRETE_METHODS and self._reads_undefined(receiver):
            message = f"`{self._text(node.receiver)}` is Tensor?: it has no `{'->' if node.arrow else ''}{name}`"
            place = self.formula.excerpt.place(node.name.start, node.name.end)
            self.diagnostics.add("GS0901", message, place, help=_absent_help(self._text(node.receiver)))
        return method

    def _check_changes_nothing(self, called: s.Name) -> None:
        """Report what is called in a function and writes to an argument."""
        name = called.text.rpartition("::")[2]
        plain = name.rstrip("_") if name.endswith("_") and not name.endswith("__") else name.removesuffix("_out")
        if self.function and plain not in ("", name):
            help_ = f"write `{called.text.removesuffix(name)}{plain}`, which gives a new tensor"
            self._report("GS0414", f"`{called.text}` changes a tensor, and a function changes nothing", called, help=help_)

    def _reads_undefined(self, value: ir.Expr) -> bool:
        """Whether a value is an optional tensor that reads as an undefined tensor where it is absent."""
        return not self.forward and not self.before and isinstance(value, ir.Input) and value.type == OPTIONAL_TENSOR

    def _text(self, node: s.Expr) -> str:
        return self.formula.excerpt.text[node.start : node.end]

    def _check_function(self, function: s.Name, has_template: bool) -> None:
        text = function.text.removeprefix("::")
        if self.function and text == "range":
            return
        if text in ("range", "zip") and text not in self.externs:
            if self.function:
                help_ = "write `[EXPR for x, y in zip(xs, ys)]`, with as many names as lists"
                self._report("GS0410", "`zip` stands only where lists are walked", function, help=help_)
            else:
                self._check_stands_in_function(f"`{text}`", function)
            return
        if text in FOREIGN_FUNCTIONS and text not in self.externs and text not in self.table.listed:
            self._report("GS0402", f"unknown function `{text}`", function, help=FOREIGN_FUNCTIONS[text])
            return
        if has_template or text in TORCH_HELPERS or text in BUILTIN_FUNCTIONS or text in self.externs:
            return
        namespace, _, name = text.rpartition("::")
        if _is_open(namespace) or namespace.startswith("at::"):
            return
        self._check_changes_nothing(function)
        if namespace in ("", "at"):
            base = name.removesuffix("_symint")
            if base in self.table.listed or name in self.table.listed or base == self.schema.name.base:
                return
            # Without ATen's own list there is nothing to hold against it.
            if namespace and "add" not in self.table.listed:
                return
        if namespace == "at":
            near = self.diagnostics.suggest(text, [f"at::{n}" for n in self.table.listed])
            self._report("GS0402", f"ATen has no function `{name}`", function, help=near or "look at the schemas that are given")
            return
        known = chain(TORCH_HELPERS, BUILTIN_FUNCTIONS, self.externs, self.table.listed)
        near = self.diagnostics.suggest(text, known)
        declare = f"if it is a function of your own, declare it: `extern {text};` in .grad, `--extern {text}` on the command line"
        if not near and not namespace and "add" not in self.table.listed:
            declare = f"write `at::{text}` if it is ATen's; {declare}"
        self._report("GS0402", f"unknown function `{text}`", function, help=f"{near} {declare}".strip())

    def _report(self, code: str, message: str, node: s.Expr, *, label: str = "", help: str = "") -> None:
        self.diagnostics.add(code, message, self.formula.place(node), label=label, help=help)


def _absent_help(name: str) -> str:
    return f"an absent Tensor? reads as an undefined tensor: `{name}.defined()`, and `{name}` without `*` or `->`"


def _is_fixed(index: ir.Expr) -> bool:
    """Whether an index is written in numbers alone."""
    return all(isinstance(e, ir.Number | ir.Unary | ir.Binary | ir.Bool) for e in ir.walk(index))


def _is_plain(index: ir.Expr) -> TypeGuard[ir.Number]:
    """Whether an index is a decimal number, so that its text says what it is."""
    return isinstance(index, ir.Number) and index.text.isdigit() and str(int(index.text)) == index.text


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:20]) + (", ..." if len(ordered) > 20 else "")


def _is_open(namespace: str) -> bool:
    return any(namespace == known or namespace.startswith(f"{known}::") for known in OPEN_NAMESPACES)


def resolve_formula(scope: Scope) -> ir.Expr:
    """The IR of the scope's formula, which must be an expression."""
    return scope.resolve(cast(s.Expr, scope.formula.value))
