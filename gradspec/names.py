"""The names that an entry may use, and those that it may not; knows nothing of formulas."""

from __future__ import annotations

from collections.abc import Sequence

from gradspec.diagnostics import Diagnostics, did_you_mean
from gradspec.functions import CONSTANTS
from gradspec.ir import Schema
from gradspec.syntax import KeyName

DIFFERENTIABILITY_KEY = "output_differentiability"
# What the op computes, as an expression over its inputs: for who runs it, not for its derivatives. Of .grad alone.
FORWARD_KEY = "forward"
ENTRY_KEYS = ("name", "dispatch", DIFFERENTIABILITY_KEY)

# Names that formulas give a meaning of their own, so that no argument may bear them. An argument may be called `grad`, as four
# of ATen's are, as long as no formula reads that name.
RESERVED_ARGUMENTS = {
    "grads": "the list of all gradients",
    "grad_input_mask": "which inputs need a gradient",
    "retain_variables": "whether buffers are kept",
    "result": "the op's output",
}

# Words that have a meaning of their own in functions: of the language, of types and of constants.
WORDS = frozenset(
    {*"fold for if in let range return zip true false".split(), *"Tensor Scalar ScalarType TensorOptions TensorGeometry".split()}
    | CONSTANTS
)

# The autograd dispatch keys of c10/core/DispatchKey.h that a derivative can be registered for.
_AUTOGRAD_KEY_ENDINGS = (
    "", "CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA", "PrivateUse1", "PrivateUse2",
    "PrivateUse3", "Meta", "NestedTensor", "Functionality", "Other",
)  # fmt: skip
DISPATCH_KEYS = ("Default", *(f"Autograd{ending}" for ending in _AUTOGRAD_KEY_ENDINGS))


def check_key(names: Sequence[KeyName], schema: Schema | None, diagnostics: Diagnostics) -> bool:
    """Whether every name of a rule's key is an input or an output of the op; each that is not is reported."""
    if schema is None:
        return True
    inputs = [a.name for a in schema.arguments + schema.out]
    outputs = list(schema.output_names)
    fine = True
    for name in names:
        if name.text in inputs or name.text in outputs:
            continue
        fine = False
        known = f"inputs: {', '.join(inputs) or 'none'}; outputs: {', '.join(outputs) or 'none'}"
        near = did_you_mean(name.text, [*inputs, *outputs, *ENTRY_KEYS])
        if name.text == DIFFERENTIABILITY_KEY:
            near = "it is said once of the op: alone in its key, and outside of `dispatch`;"
        message = f"`{name.text}` is neither an input nor an output of `{schema.name}`"
        diagnostics.add("GS0307", message, name.span, help=f"{near} {known}".strip())
    return fine
