"""The autograd function of an op, and the typed function around it; knows no formula of a gradient."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field, frozen

from gradspec import ir
from gradspec.layout import Doc, concat
from gradspec.signatures import result_type
from gradspec.types import OPTIONAL_TENSOR, TENSOR, is_tensor_like, is_tensor_list
from gradspec_python import code as c
from gradspec_python.calls import forward_name
from gradspec_python.code import Code, bracketed, called, named, statement
from gradspec_python.expr import Lowering
from gradspec_python.names import python_name, unique
from gradspec_python.operands import Operands, attribute, operands_of, original_name, unpack_saved
from gradspec_python.pure import PureFunction
from gradspec_python.tangents import Tangents
from gradspec_python.typed_call import call_body, call_head

# Operators whose second tensor may be a plain number in Python (torch/csrc/utils/python_arg_parser.cpp says which).
_TAKES_NUMBERS = frozenset({"add", "sub", "mul", "div", "floor_divide", "copy", "copy_"})
# What a tensor that comes back from where it was saved has as before.
_GEOMETRY = frozenset(
    "dim numel sym_numel size sym_size sizes sym_sizes stride sym_stride strides sym_strides layout dtype scalar_type"
    " options".split()
)


@frozen
class Method:
    """A static method: its parameters and body, and what it is decorated with."""

    name: str
    parameters: str
    body: tuple[str, ...]
    decorator: str = ""


@frozen
class FunctionModel:
    """The class and the typed function, as text."""

    name: str
    doc: str
    vmaps: bool
    methods: tuple[Method, ...]
    head: str
    call_doc: tuple[str, ...]
    call: tuple[str, ...]


@define
class FunctionBuilder:
    """Builds the class of one op around its pure function."""

    op: ir.Op
    lowering: Lowering
    pure: PureFunction
    pure_name: str
    name: str
    operands: Operands = field(init=False)
    tangents: Tangents = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.operands = operands_of(self.op)
        self.tangents = Tangents(self.op, self.lowering, self.operands)

    @property
    def combined(self) -> bool:
        """Whether forward must save by itself: what the op overwrites is another when `setup_context` is called."""
        return bool(self._early())

    def _early(self) -> list[ir.SavedValue]:
        return [v for v in self.op.saved if self._reads_overwritten(v) and not v.overwritten]

    def _reads_overwritten(self, value: ir.SavedValue) -> bool:
        if not self.op.schema.is_inplace:
            return False
        written = self.op.schema.arguments[0].name
        return any(isinstance(e, ir.Input) and e.name == written for e in ir.walk(value.value))

    def model(self) -> FunctionModel:
        """The class and the typed function.

        Raises:
            CannotLower: the op's arguments or results cannot pass through an autograd function.
        """
        op = self.op
        assert op.node is not None
        methods = [self._forward()]
        if not self.combined:
            methods.append(self._setup())
        methods.append(self._backward())
        jvp = self.tangents.lines()
        if jvp:
            methods.append(Method("jvp", "ctx, saved, *tangents", tuple(jvp), self.lowering.use("forward_mode")))
        keyed = f", under {op.dispatch}" if op.dispatch != "Default" else ""
        return FunctionModel(
            name=op.node,
            doc=f"`{op.name}` with its gradients{' and tangents' if jvp else ''}{keyed}.",
            vmaps=not self.combined and not op.schema.is_inplace,
            methods=tuple(methods),
            head=call_head(self.operands, self.name),
            call_doc=(f"`{op.name}`, differentiable.", "", f"    {op.schema}"),
            call=(call_body(self.operands),),
        )

    # ------------------------------------------------------------------------------------------------------------- forward

    def _forward(self) -> Method:
        schema = self.op.schema
        given = [python_name(a.name) for a in schema.positional]
        by_name = [named(a.name, python_name(a.name)) for a in schema.keyword + schema.out]
        overloads = [o.schema for o in self.lowering.typing.signatures.operators(schema.name.base)]
        call = called(forward_name(schema, overloads), [*given, *by_name])
        if self.op.forward is not None:
            call = self.lowering.lower(self.op.forward, result_type(schema))
        body = self._regroup()
        outputs = self.op.outputs
        if is_tensor_list(outputs[-1].type):
            if len(outputs) == 1:
                call = called("tuple", [call.doc])
            else:
                body.append(statement("*fixed, listed = ", call, 8))
                call = Code("(*fixed, *listed)")
        if self.combined:
            early = self._early()
            body += [statement(f"{attribute(v.name)} = ", self._saved_value(v), 8) for v in early]
            body.append(statement("output = ", call, 8))
            body += self._setup_lines({v.name for v in early})
            body.append("return output")
            return Method("forward", ", ".join(["ctx", *self.operands.parameters]), tuple(body))
        body.append(statement("return ", call, 8))
        return Method("forward", ", ".join(self.operands.parameters), tuple(body))

    def _regroup(self) -> list[str]:
        names = [python_name(a.name) for a in self.operands.lists]
        return self.operands.regrouped(names, "tensors", "lengths", self.lowering)

    # --------------------------------------------------------------------------------------------------------------- setup

    def _setup(self) -> Method:
        lines = self._setup_lines(set())
        read = self._names_in(lines)
        if self.operands.several:
            lines = [*self._regroup(), "ctx.argument_lengths = lengths", *lines]
            read |= {"tensors", "lengths"}
        targets = [p if p.lstrip("*") in read else f"{'*' if p[0] == '*' else ''}_" for p in self.operands.parameters]
        head = []
        if any(t.strip("*") != "_" for t in targets):
            head.append(f"{f'({targets[0]},)' if len(targets) == 1 else ', '.join(targets)} = inputs")
            if self.op.schema.name.base in _TAKES_NUMBERS:
                numbers = [a.name for a in self.op.schema.arguments[1:] if a.type == TENSOR and python_name(a.name) in read]
                head += [f"{python_name(n)} = {self.lowering.use('as_tensor')}({python_name(n)})" for n in numbers]
        return Method("setup_context", "ctx, inputs, output", (*head, *lines) or ("pass",))

    def _names_in(self, lines: Sequence[str]) -> set[str]:
        """The words of these lines: which inputs they read."""
        words: set[str] = set()
        for line in lines:
            word = ""
            for character in f"{line} ":
                if character.isalnum() or character == "_":
                    word += character
                else:
                    words.add(word)
                    word = "." if character == "." and word != "" else ""
        return words

    def _setup_lines(self, done: set[str]) -> list[str]:
        op = self.op
        # A formula that does not ask whether a gradient is there gets zeros for one that is not.
        lines = [] if any(d.unguarded for d in op.derivatives) else ["ctx.set_materialize_grads(False)"]
        names = self.operands.output_names
        saved = list(op.saved)
        jvp_tensors, jvp_others = self.tangents.tensors, self.tangents.others
        used_outputs = {v.value.name for v in saved if isinstance(v.value, ir.Output)}
        used_outputs |= {e.name for v in saved for e in ir.walk(v.value) if isinstance(e, ir.Output)}
        used_outputs |= {n for n in (*jvp_tensors, *jvp_others) if n in names}
        lines += self._unpack_outputs(used_outputs)
        if op.schema.is_inplace:
            lines.append(f"ctx.mark_dirty({python_name(op.schema.arguments[0].name)})")
        lines += self._mark_non_differentiable()
        kept = sorted((v for v in saved if self._is_kept(v)), key=lambda v: is_tensor_list(v.type))
        if kept:
            items = [f"*{self._local(v)}" if is_tensor_list(v.type) else self._local(v) for v in kept]
            lines.append(statement("", called("ctx.save_for_backward", items), 8))
            listed = [v for v in kept if is_tensor_list(v.type)]
            if len(listed) > 1:
                lines.append(f"ctx.lengths = [{', '.join(f'len({self._local(v)})' for v in listed)}]")
        if jvp_tensors:
            lists = [n for n in jvp_tensors if self.operands.is_list(n)]
            items = [f"*{python_name(n)}" if n in lists else python_name(n) for n in jvp_tensors]
            lines.append(statement("", called("ctx.save_for_forward", items), 8))
            if len(lists) > 1:
                lines.append(f"ctx.forward_lengths = [{', '.join(f'len({python_name(n)})' for n in lists)}]")
        for value in saved:
            if value not in kept and value.name not in done and not self._is_at_hand(value):
                lines.append(statement(f"{attribute(value.name)} = ", self._saved_value(value), 8))
                done.add(value.name)
        lines += [f"{attribute(n)} = {python_name(n)}" for n in jvp_others if n not in done]
        return lines

    def _unpack_outputs(self, used: set[str]) -> list[str]:
        """The statement that names the outputs that are read."""
        names = self.operands.output_names
        if not used:
            return []
        if len(names) == 1:
            (name,) = names
            return [f"{python_name(name)} = output"] if python_name(name) != "output" else []
        targets = [python_name(n) if n in used else "_" for n in names]
        if self.operands.is_list(names[-1]):
            targets[-1] = f"*{targets[-1]}"
        return [f"{', '.join(targets)} = output"]

    def _mark_non_differentiable(self) -> list[str]:
        op = self.op
        if op.differentiable_if is not None:
            condition = self.lowering.negated(op.differentiable_if)
            return [statement("if ", condition, 8, ":"), "    ctx.mark_non_differentiable(output)"]
        marked = [i for i, o in enumerate(op.outputs) if not o.differentiable and o.type in (TENSOR, OPTIONAL_TENSOR)]
        if not marked:
            return []
        single = len(op.outputs) == 1
        items = ["output" if single else f"output[{i}]" for i in marked]
        return [statement("", called("ctx.mark_non_differentiable", items), 8)]

    def _is_kept(self, value: ir.SavedValue) -> bool:
        return is_tensor_like(value.type)

    def _local(self, value: ir.SavedValue) -> str:
        return python_name(original_name(value.name) if value.overwritten else value.name)

    def _saved_value(self, value: ir.SavedValue) -> Code:
        expr = value.value
        if str(value.type) == "TensorInfo":
            assert isinstance(expr, ir.Input | ir.Output)
            name = python_name(expr.name)
            made = Code(concat("{", f'"size": {name}.shape, **{self.lowering.use("options_of")}({name})', "}"))
            return Code(concat(f"None if {name} is None else ", made.doc), c.TERNARY) if expr.type != TENSOR else made
        if str(value.type) == "TensorGeometry":
            assert isinstance(expr, ir.Call)
            name = self.lowering.lower(expr.args[0]).flat
            return Code(bracketed("(", [f"{name}.shape", f"{name}.stride()", f"{name}.storage_offset()"], ")"))
        if isinstance(expr, ir.Call) and expr.function.startswith("to_args_"):
            of = self.lowering.lower(expr.args[0]).flat
            what = "t.dtype" if expr.function.endswith("scalartypes") else "t.shape"
            return Code(concat("[", f"{what} for t in {of}", "]"))
        made = self.lowering.lower(expr)
        if isinstance(expr, ir.Method) and isinstance(expr.receiver, ir.Input) and expr.receiver.type == OPTIONAL_TENSOR:
            return Code(concat(f"None if {python_name(expr.receiver.name)} is None else ", made.within(c.TERNARY)), c.TERNARY)
        return made

    def _is_at_hand(self, value: ir.SavedValue) -> bool:
        """Whether a value can be read in backward of a tensor that is kept anyway."""
        match value.value:
            case ir.Method(ir.Input(name) | ir.Output(name), method, args) if method in _GEOMETRY:
                of = [v for v in self.op.saved if v.name == name and v.value == value.value.receiver and not v.overwritten]
                early = self._reads_overwritten(value)
                return bool(of) and self._is_kept(of[0]) and not early and all(isinstance(a, ir.Number) for a in args)
            case _:
                return False

    # ------------------------------------------------------------------------------------------------------------ backward

    def _restored(self, value: ir.SavedValue) -> Doc:
        if self._is_kept(value):
            return python_name(value.name)
        return self._saved_value(value).doc if self._is_at_hand(value) else attribute(value.name)

    def _backward(self) -> Method:
        op = self.op
        kept = [(python_name(v.name), is_tensor_list(v.type)) for v in op.saved if self._is_kept(v)]
        lines = unpack_saved(_lists_last(kept), "ctx.saved_tensors", "ctx.lengths", self.lowering)
        values = [self._restored(v) for v in op.saved]
        grads = self._differentiable_grads()
        moving = {i.name for i in op.differentiable_inputs}
        plain = [a.name for a in self.operands.plain]
        offset = self.operands.offset
        direct = plain == [i.name for i in op.differentiable_inputs] and not self.operands.lists
        if direct:
            call = called(self.pure_name, [grads, "ctx.needs_input_grad", *values])
            return Method("backward", "ctx, *grads", (*lines, statement("return ", call, 8)))
        names = [f"needs_{a.name}" for a in self.operands.lists]
        source = f"ctx.needs_input_grad[{offset}:]"
        lines += self.operands.regrouped(names, source, "ctx.argument_lengths", self.lowering)
        needs: list[str | int] = []
        for info in op.differentiable_inputs:
            if info.name in plain:
                needs.append(plain.index(info.name))
            else:
                needs.append(f"any(needs_{info.name})" if self.operands.several else f"any(ctx.needs_input_grad[{offset}:])")
        taken = {*self._names_in([Code(v).flat for v in values]), "grads", "ctx"}
        results = {i.name: unique(f"grad_{i.name}", taken) for i in op.differentiable_inputs}
        call = called(self.pure_name, [grads, _needed(needs), *values])
        names = list(results.values())
        target = f"({names[0]},)" if len(names) == 1 else ", ".join(names)
        lines.append(statement(f"{target} = ", call, 8))
        returned = [results.get(n, "None") if n in moving else "None" for n in plain]
        returned += ["None"] * self.operands.several
        for argument in self.operands.lists:
            count = f"len(needs_{argument.name})" if self.operands.several else f"(len(ctx.needs_input_grad) - {offset})"
            none = f"[None] * {count}"
            returned.append(f"*({results[argument.name]} or {none})" if argument.name in moving else f"*({none})")
        lines.append(f"return {', '.join(returned)}{',' if len(returned) == 1 else ''}")
        return Method("backward", "ctx, *grads", tuple(lines))

    def _differentiable_grads(self) -> str:
        outputs = self.op.outputs
        if all(o.differentiable for o in outputs) or len(outputs) == 1:
            return "grads"
        listed = is_tensor_list(outputs[-1].type)
        chosen = [f"grads[{i}]" for i, o in enumerate(outputs) if o.differentiable and not (listed and i == len(outputs) - 1)]
        if listed and outputs[-1].differentiable:
            chosen.append(f"*grads[{len(outputs) - 1}:]")
        indices = [i for i, o in enumerate(outputs) if o.differentiable]
        if indices == list(range(len(indices))) and not listed:
            return f"grads[:{len(indices)}]"
        return f"({', '.join(chosen)}{',' if len(chosen) == 1 else ''})"


def _lists_last(items: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    return sorted(items, key=lambda item: item[1])


def _needed(needs: Sequence[str | int]) -> Doc:
    """Which gradients are needed: conditions, and places in `ctx.needs_input_grad`."""
    first = needs[0]
    if len(needs) > 1 and isinstance(first, int) and list(needs) == list(range(first, first + len(needs))):
        return f"ctx.needs_input_grad[{first or ''}:{first + len(needs)}]"
    items = [f"ctx.needs_input_grad[{n}]" if isinstance(n, int) else n for n in needs]
    return bracketed("(", items, ",)" if len(items) == 1 else ")")
