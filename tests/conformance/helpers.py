"""`helpers: N/189`: the helper functions that PyTorch's formulas call and that gradspec has, lowered to Python and to C++.

All but two are written in the language, in the prelude. `not_implemented` and `not_implemented_list` raise, which no function of
the language can: they are in the runtime of each target.
"""

from __future__ import annotations

from gradspec import ir
from gradspec.functions import TORCH_HELPERS
from gradspec.load import find_torch
from gradspec.pipeline import compile_files
from gradspec_cpp.functions import PRIMITIVES, function_models
from gradspec_python.emit import lower_helpers
from gradspec_python.support import support_functions, support_name


def main() -> None:
    """Count, and say what is missing where."""
    torch = find_torch(None)
    program = compile_files([torch.derivatives], torch.native_functions, helpers="prelude").program
    called = {part.function for op in program.ops for f in op.formulas for part in ir.walk(f) if isinstance(part, ir.Call)}
    in_nodes = {
        part.function for op in program.nodes for d in op.derivatives for part in ir.walk(d.formula) if isinstance(part, ir.Call)
    }
    wanted = called & TORCH_HELPERS
    written = {f.name for f in program.functions}
    helpers = lower_helpers(program)
    python = {f.name for f in program.functions if helpers.names[id(f)] in helpers.lowered}
    python |= {name for name in wanted if support_name(name) in support_functions()}
    # C++ nodes have no forward formulas.
    cpp = {model.name for model in function_models(program)} | set(PRIMITIVES) | (wanted - in_nodes)
    for name in sorted(wanted):
        places = {"the prelude": written | set(PRIMITIVES), "Python": python, "C++": cpp}
        lacking = [place for place, names in places.items() if name not in names]
        if lacking:
            print(
                f"{name}: not in {', '.join(lacking)}"
                + (f": {helpers.refused[f'_{name}']}" if f"_{name}" in helpers.refused else "")
            )
    passed = len(wanted & (written | set(PRIMITIVES)) & python & cpp)
    print(f"helpers: {passed}/{len(wanted)}")
    raise SystemExit(0 if passed == len(wanted) else 1)


if __name__ == "__main__":
    main()
