"""The Jinja2 environment that every backend renders with; knows no template."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


@cache
def template_environment(folder: Path) -> Environment:
    """The environment of a backend's own `templates` folder.

    An undefined name is an error, a block tag leaves no line behind, and nothing is escaped: text that comes from a spec goes
    through the target language's escaping function before it reaches a template.
    """
    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        auto_reload=False,
    )
