"""Text to syntax: formulas, schemas and .grad files; knows what is written, not what names mean."""

from gradspec.parse.formula import MAX_FORMULA_LENGTH, MAX_NESTING, parse_formula
from gradspec.parse.schema import parse_schema
from gradspec.parse.spec import parse_spec

__all__ = ["MAX_FORMULA_LENGTH", "MAX_NESTING", "parse_formula", "parse_schema", "parse_spec"]
