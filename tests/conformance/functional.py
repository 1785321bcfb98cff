"""`functional: N/711`: what compile.py asks, of `gradspec emit --torch -b cpp -O shape=functional`.

Usage: functional.py [--details FILE]
"""

from __future__ import annotations

import sys

from compile import judge

if __name__ == "__main__":
    judge("functional", ["-O", "shape=functional"], sys.argv[2] if sys.argv[1:2] == ["--details"] else None)
