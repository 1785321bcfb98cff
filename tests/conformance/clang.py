"""`clang: N/711`: clang++ -Wall -Wextra over each emitted source by itself; where there is no clang, a line that says so."""

from __future__ import annotations

import shutil

from optimised import judge

if __name__ == "__main__":
    if shutil.which("clang++") is None:
        print("clang: clang++ is not installed: nothing was judged")
    else:
        # Clang keeps to what the standard has, where g++ takes more: nothing needs to be optimised for that.
        judge("clang", ["clang++", "-fsyntax-only"])
