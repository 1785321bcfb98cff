"""A compiler for operator derivatives; this module holds the version alone, so that importing it costs nothing."""

__version__ = "0.1.0"
