"""`known: N/N`: what the gradient checker excuses as a fault of torch's own, each found again, and no other for the same op."""

from __future__ import annotations

from gradspec.gradcheck.known import known_faults
from gradspec.gradcheck.run import check_program
from gradspec.load import find_torch
from gradspec.pipeline import compile_files


def main() -> None:
    """Check each op of the list, and count those of which exactly what is listed fails."""
    files = find_torch(None)
    program = compile_files([files.derivatives], files.native_functions, helpers="prelude").program
    listed: dict[str, set[str]] = {}
    for name, check in known_faults():
        listed.setdefault(name, set()).add(check)
    passed = 0
    for name, checks in sorted(listed.items()):
        ops = [o for o in program.ops if str(o.name) == name and o.dispatch == "Default"]
        found = [fault.outcome.check for report in check_program(program.of(ops), 0) for fault in report.known]
        passed += set(found) == checks
        if set(found) != checks:
            print(f"{name}: {', '.join(sorted(checks))} are listed, and {', '.join(sorted(found)) or 'none'} is so")
    print(f"known: {passed}/{len(listed)}")
    raise SystemExit(0 if passed == len(listed) else 1)


if __name__ == "__main__":
    main()
