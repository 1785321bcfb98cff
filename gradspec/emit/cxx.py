"""C++ text that every C++ backend needs: literals, comments, line breaking; knows nothing of autograd."""

from __future__ import annotations

from collections.abc import Iterable

# The column that emitted code keeps within, where a break is possible at all.
WIDTH = 110

_NAMED_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def string_literal(value: str) -> str:
    """The C++ literal whose bytes are the UTF-8 of `value`; printable ASCII stays readable.

    Other bytes become three octal digits, which, unlike hexadecimal ones, never run on into the text behind them. The second of
    two question marks is escaped: trigraphs left C++ in 2017, but compilers still read them on request and warn of them always.
    """
    out = ['"']
    previous = ""
    for char in value:
        if char in _NAMED_ESCAPES:
            out.append(_NAMED_ESCAPES[char])
        elif char == "?" and previous == "?":
            out.append("\\?")
        elif " " <= char <= "~":
            out.append(char)
        else:
            out.extend(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogatepass"))
        previous = char
    out.append('"')
    return "".join(out)


def comment(text: str) -> str:
    """`text` as `//` comments within the width: in ASCII, and with no backslash at an end, which would swallow the next line."""
    if not (text.isascii() and text.isprintable()):
        text = text.encode("unicode_escape").decode("ascii")
    if len(text) + 3 <= WIDTH:
        return f"// {text} ." if text.endswith("\\") else f"// {text}"
    lines = ["//"]
    for word in text.split(" "):
        if len(lines[-1]) + 1 + len(word) > WIDTH and not lines[-1].endswith("\\"):
            lines.append("//    ")
        lines[-1] += f" {word}"
    if lines[-1].endswith("\\"):
        lines[-1] += " ."
    return "\n".join(lines)


def fill(items: Iterable[str], column: int, indent: int, width: int = WIDTH) -> str:
    """`items` separated by commas, starting at `column`; each line that would pass `width` breaks, and goes on at `indent`."""
    lines = [""]
    room = width - column
    for item in items:
        separator = ", " if lines[-1] else ""
        if lines[-1] and len(lines[-1]) + len(separator) + len(item) + 1 > room:
            lines[-1] += ","
            lines.append(item)
            room = width - indent
        else:
            lines[-1] += separator + item
    return ("\n" + " " * indent).join(lines)


def call(head: str, items: tuple[str, ...], tail: str, indent: int) -> str:
    """`head` + items + `tail`, on one line where it fits, else with the items filled below, four columns in from `indent`."""
    line = f"{head}{', '.join(items)}{tail}"
    if len(line) + indent <= WIDTH:
        return line
    inner = indent + 4
    return f"{head}\n{' ' * inner}{fill(items, inner, inner)}{tail}"
