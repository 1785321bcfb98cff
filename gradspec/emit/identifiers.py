"""Names that target languages keep for themselves; knows nothing of what an emitted file holds."""

from __future__ import annotations

# Keywords and alternative tokens, up to C++23 ([lex.key], [lex.digraph]).
CXX_KEYWORDS = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await
    co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do double
    dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new
    noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return short
    signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid
    typename union unsigned using virtual void volatile wchar_t while xor xor_eq
    """.split()
)


# Object-like macros of the C and C++ headers that no program can be compiled without.
CXX_MACROS = frozenset("EOF INFINITY NAN NULL errno stderr stdin stdout".split())


def is_cxx_reserved(name: str) -> bool:
    """Whether C++ forbids `name` for a variable: a keyword, a macro, or a name kept for the implementation ([lex.name]/3)."""
    return name in CXX_KEYWORDS or name in CXX_MACROS or "__" in name or (name[:1] == "_" and name[1:2].isupper())
