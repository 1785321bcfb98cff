"""`helper-declarations: N/N`: each helper that we declare again is declared so by the installed torch."""

from __future__ import annotations

import tempfile
from pathlib import Path

from optimised import compile_alone

from gradspec_cpp.helpers import HEADER, NAMESPACE, declarations

# Types by their short names, as the emitted header has them.
_USING = "at::ArrayRef at::IntArrayRef at::ITensorListRef at::Layout at::OptionalIntArrayRef at::Scalar at::ScalarType at::Tensor"
_USING += " at::TensorGeometry at::TensorList at::TensorOptions c10::SymInt c10::SymIntArrayRef torch::autograd::variable_list"


def pointer(declaration: str) -> str:
    """A C++ expression that compiles where a function is declared with exactly these types."""
    head, arguments = declaration.split("(", 1)
    is_template = head.startswith("template <class T> ")
    result, _, name = head.removeprefix("template <class T> ").rpartition(" ")
    types = ", ".join(argument.partition(" = ")[0] for argument in arguments[:-1].split(", "))
    if is_template:
        name, types = f"{name}<Scalar>", types.replace(", T,", ", Scalar,")
    return f"static_cast<{result} (*)({types})>(&{NAMESPACE}::{name})"


def main() -> None:
    """Compile a line for each, and count those of which nothing is said."""
    lines = [f"auto f{i} = {pointer(text)};" for i, text in enumerate(declarations())]
    before = [f"#include <{HEADER}>", *[f"using {name};" for name in _USING.split()]]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "helpers.cpp")
        source.write_text("\n".join([*before, *lines]) + "\n", encoding="utf-8")
        findings = compile_alone(["g++", "-fsyntax-only"], source, frozenset())
    for finding in findings:
        print(finding)
    wrong = {finding.line for finding in findings if finding.path.name == source.name}
    passed = 0 if any(finding.path.name != source.name for finding in findings) else len(lines) - len(wrong)
    print(f"helper-declarations: {passed}/{len(lines)}")
    raise SystemExit(0 if passed == len(lines) else 1)


if __name__ == "__main__":
    main()
