"""The canonical form: what it looks like, that it is its own, and that nothing is lost or means something else."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from random import Random

import pytest
from compiling import diagnose
from conftest import RunGradspec
from hypothesis import given
from hypothesis import strategies as st
from shapes import parse, shape

from gradspec.diagnostics import Diagnostics
from gradspec.fmt import WIDTH, format_spec, formula_doc
from gradspec.layout import render
from gradspec.parse.concrete import Block, Statement, fold_formula, parse_layout
from gradspec.printer import print_program
from gradspec.rewrite import rewrite_file
from gradspec.source import Source

SPECS = sorted((Path(__file__).parent.parent / "specs").glob("*.grad"))
OP = "op f(Tensor a, Tensor b) -> Tensor {\n"


def formatted(text: str) -> str:
    diagnostics = Diagnostics()
    result = format_spec(Source("x.grad", text), diagnostics)
    assert result is not None, [d.message for d in diagnostics.all]
    return result


def formula(text: str, width: int = WIDTH) -> str:
    return render(formula_doc(text), width)


def meaning(text: str) -> str:
    program, found = diagnose(text)
    assert program is not None, [d.message for d in found]
    return print_program(program)


# ---------------------------------------------------------------------------------------------------------------- formulas


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a+b *  -c", "a + b * -c"),
        ("- -a", "- -a"),
        ("+ + a", "+ +a"),
        ("- +a", "-+a"),
        ("! ! a && ~b", "!!a && ~b"),
        ("* a * * b", "*a * *b"),
        ("( a+b )", "(a + b)"),
        ("((a))", "((a))"),
        ("a ?b:c", "a ? b : c"),
        ("a<b>c", "a < b > c"),
        ("a<<1>>2", "a << 1 >> 2"),
        ("f ( )", "f()"),
        ("f(a,b)", "f(a, b)"),
        ("a . f ( b ) -> g( )", "a.f(b)->g()"),
        ("a [ 0 ] [ i ]", "a[0][i]"),
        ("{ 1,1 }", "{1, 1}"),
        ("{ }", "{}"),
        ("{ {1} , {} }", "{{1}, {}}"),
        ("at :: where(a)", "at::where(a)"),
        ("a ? b : :: std :: nullopt", "a ? b : ::std::nullopt"),
        ("std::get < 0 > ( x )", "std::get<0>(x)"),
        ("std :: tuple < Tensor , std::vector < int > > ( )", "std::tuple<Tensor, std::vector<int>>()"),
        ("std::vector<int64_t> { 0 }", "std::vector<int64_t>{0}"),
        ("x . item < int64_t > ( )", "x.item<int64_t>()"),
        ("fmap(x,[](c10::SymInt i){return-i;})", "fmap(x, [](c10::SymInt i) { return -i; })"),
        ("2 .f()", "2 .f()"),
        ("0xE ->f()", "0xE ->f()"),
        ("x.f().g()", "x.f().g()"),
        ('f("a  b",  1\'000 , .5)', 'f("a  b", 1\'000, .5)'),
        ("/*x=*/a", "/*x=*/ a"),
        ("f(/*x=*/true,b/* y */)", "f(/*x=*/ true, b /* y */)"),
        ("a/* 1 *//* 2 */+b", "a /* 1 */ /* 2 */ + b"),
        ("-/* sign */a", "- /* sign */ a"),
        ("a // why\n+b", "a\n  // why\n  + b"),
        ("// first\na", "// first\na"),
        ("/* two  \n lines */ a", "/* two\n lines */ a"),
    ],
)
def test_formula(text: str, wanted: str) -> None:
    assert formula(text) == wanted
    assert formula(wanted) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("one + two * three - four", "one\n  + two * three\n  - four"),
        ("function(one, two, three)", "function(one, two,\n    three)"),
        ("function_name(argument_of_it)", "function_name(\n    argument_of_it)"),
        ("test ? consequence : alternative", "test\n  ? consequence\n  : alternative"),
        ("one.two(three).four(five, six)", "one.two(three).four(\n    five, six)"),
        ("{one, two, three, four}", "{one, two, three,\n    four}"),
        ("(one + two_and_three).four()", "(one\n   + two_and_three).four()"),
        ("one && two || three && four", "one && two\n  || three && four"),
        ("fmap(x, [](Tensor one) { return two; })", "fmap(x,\n    [](Tensor one) {\n      return two;\n    })"),
    ],
)
def test_a_long_formula_is_broken(text: str, wanted: str) -> None:
    assert formula(text, 20) == wanted
    assert formula(wanted, 20) == wanted


_NAMES = st.sampled_from(["a", "grad", "at::where", "M_PI", "x_t", "::std::nullopt"])
_LITERALS = ["0", "1.5", "0xE", "1e-3", ".5", '"a, b"', '"\\" //"']
_LEAVES = st.one_of(_NAMES, st.sampled_from(_LITERALS)).map(lambda text: [text])
_TYPES = st.sampled_from([["Tensor"], ["std::vector", "<", "Tensor", ">"], ["c10::SymInt"]])


def _joined(parts: list[list[str]], sign: str) -> list[str]:
    return [token for i, part in enumerate(parts) for token in ([sign] if i else []) + part]


def _extended(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    args = st.lists(inner, max_size=3).map(lambda parts: _joined(parts, ","))
    closed = inner.map(lambda e: ["(", *e, ")"])
    return st.one_of(
        closed,
        st.tuples(closed, st.sampled_from("* / % + - << >> < > <= >= == != & ^ | && ||".split()), closed).map(
            lambda t: [*t[0], t[1], *t[2]]
        ),
        st.tuples(inner, st.sampled_from(["+", "-", "*", "&&", "=="]), inner).map(lambda t: [*t[0], t[1], *t[2]]),
        st.tuples(st.sampled_from("-+!~*"), inner).map(lambda t: [t[0], *t[1]]),
        st.tuples(closed, inner, inner).map(lambda t: [*t[0], "?", *t[1], ":", *t[2]]),
        st.tuples(_NAMES, args).map(lambda t: [t[0], "(", *t[1], ")"]),
        st.tuples(closed, st.sampled_from([".", "->"]), args).map(lambda t: [*t[0], t[1], "f", "(", *t[2], ")"]),
        st.tuples(closed, inner).map(lambda t: [*t[0], "[", *t[1], "]"]),
        args.map(lambda a: ["{", *a, "}"]),
        st.tuples(_TYPES, args).map(lambda t: ["std::tuple", "<", *t[0], ">", "(", *t[1], ")"]),
        st.tuples(_TYPES, inner).map(lambda t: ["[", "]", "(", *t[0], "x", ")", "{", "return", *t[1], ";", "}"]),
    )


_TOKENS = st.recursive(_LEAVES, _extended, max_leaves=25)
_GAPS = [" ", "  ", "\n", "\t ", " /* why */ ", "/**/", " // to the end\n"]


def spread(tokens: list[str], random: Random, gaps: list[str]) -> str:
    """The tokens with blanks and comments between them, as long as the text stays what it is."""
    out = ""
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        # What is a template is known by the `<` behind its name, and two slashes in a row begin a comment.
        out += token + (" " if following == "<" or token == "/" else random.choice(gaps))
    return out


def comments_in(text: str) -> list[str]:
    """The comments of a formula in order, without those behind its end."""
    return fold_formula(text, lambda _, __, comments: list(comments), lambda _, parts: [c for part in parts for c in part])


@given(_TOKENS, st.randoms(use_true_random=False), st.integers(1, 120))
def test_any_formula_keeps_its_tree_and_comments(tokens: list[str], random: Random, width: int) -> None:
    text = spread(tokens, random, _GAPS)
    laid_out = formula(text, width)
    assert shape(parse(laid_out)) == shape(parse(text))
    assert comments_in(laid_out) == comments_in(text)
    assert formula(laid_out, width) == laid_out
    assert not any(line.endswith(" ") for line in laid_out.split("\n"))


@given(_TOKENS, st.randoms(use_true_random=False))
def test_blanks_of_a_formula_do_not_count(tokens: list[str], random: Random) -> None:
    assert formula(spread(tokens, random, _GAPS[:4])) == formula(spread(tokens, random, [" "]))


@pytest.mark.parametrize("opened", ["(", "f(", "{", "!", "-", "x["])
def test_deep_nesting_is_laid_out(opened: str) -> None:
    closed = {"(": ")", "{": "}", "[": "]"}.get(opened[-1], "")
    text = f"{opened * 20_000}a{closed * 20_000}"
    assert formula(text).replace("\n", "").replace(" ", "") == text


def test_many_arguments_take_linear_time() -> None:
    text = f"f({', '.join(['argument'] * 10_000)})"
    assert formula(text).split() == text.split()


# ------------------------------------------------------------------------------------------------------------------- files


def test_keys_are_aligned() -> None:
    text = f"{OP}a:grad*b; b :grad*a ; result: auto_linear;}}"
    assert formatted(text) == f"{OP}  a:      grad * b;\n  b:      grad * a;\n  result: auto_linear;\n}}\n"


def test_a_long_key_moves_no_other() -> None:
    names = ["first_input", "second_input", "third_input"]
    arguments = ", ".join([f"Tensor {n}" for n in names])
    head = f"op f({arguments}, Tensor a) -> Tensor"
    call = f"function({', '.join(['grad', *names, 'grad_input_mask'])}, 1, 2, 3, 4, 5, 6)"
    wanted = f"{head} {{\n  {', '.join(names)}:\n      {call};\n  a:      grad;\n  result: a_t;\n}}\n"
    assert formatted(f"{head} {{ {', '.join(names)}: {call}; a: grad; result: a_t; }}") == wanted


def test_a_long_schema_is_broken() -> None:
    arguments = [f"Tensor argument_with_number_{i}" for i in range(5)]
    text = f"op f({', '.join(arguments)}, *, int[2] size=[1,2]) -> (Tensor first, Tensor second) {{}}\n"
    laid_out = formatted(text)
    assert laid_out.split() == text.split()
    assert [line[:9] for line in laid_out.splitlines()] == ["op f(Tens", "    Tenso", "    -> (T"]
    assert meaning(laid_out) == meaning(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ""),
        ("\n\n// alone\n\n", "// alone\n"),
        ("library  lab ;extern a,at::b ;", "library lab;\nextern a, at::b;\n"),
        ("op f(Tensor a)->Tensor{}", "op f(Tensor a) -> Tensor {}\n"),
        ("op f(Tensor a)->Tensor{ }op g(Tensor a)->Tensor{}", "op f(Tensor a) -> Tensor {}\n\nop g(Tensor a) -> Tensor {}\n"),
        ("library lab;\nop f() -> Tensor {}", "library lab;\n\nop f() -> Tensor {}\n"),
        ("// x\n\n\n\n// y\nop f() -> Tensor {}", "// x\n\n// y\nop f() -> Tensor {}\n"),
        ("op f() -> Tensor {}\n// of g\nop g() -> Tensor {}", "op f() -> Tensor {}\n\n// of g\nop g() -> Tensor {}\n"),
        ("op f() -> Tensor {} // of f\n// end", "op f() -> Tensor {}  // of f\n\n// end\n"),
        (f"{OP.rstrip()} // in it\n\n}}", f"{OP.rstrip()}  // in it\n}}\n"),
        (f"{OP}\n// in it\n\n}}", f"{OP}  // in it\n}}\n"),
        (f"{OP}\n\na: grad;\n\n\nb: grad;\n\n}}", f"{OP}  a: grad;\n\n  b: grad;\n}}\n"),
        (f"{OP}a: grad /* 1 */ ; /* 2 */ // 3\n}}", f"{OP}  a: grad;  /* 1 */  /* 2 */  // 3\n}}\n"),
        (f"{OP}a: grad // 1\n; // 2\n}}", f"{OP}  a: grad;  // 1\n  // 2\n}}\n"),
        (f"{OP}a /* 1 */ , b: /* 2 */ f(grad);}}", f"{OP}  /* 1 */\n  a, b: /* 2 */ f(grad);\n}}\n"),
        (f"{OP}a: // 1\ngrad;}}", f"{OP}  a: // 1\n     grad;\n}}\n"),
        ("op /* 1 */ f() -> Tensor /* 2 */ {}", "/* 1 */\n/* 2 */\nop f() -> Tensor {}\n"),
        ("op f() -> Tensor {/* 1 */}", "op f() -> Tensor {  /* 1 */\n}\n"),
        ("extern a, /* 1 */ b; // 2", "/* 1 */\nextern a, b;  // 2\n"),
        (
            f"{OP}output_differentiability : /* 1 */ [ true ];dispatch  AutogradCUDA{{a:grad;}}}}",
            f"{OP}  /* 1 */\n  output_differentiability: [True];\n  dispatch AutogradCUDA {{\n    a: grad;\n  }}\n}}\n",
        ),
        (f"{OP}output_differentiability:f(a)&&b;}}", f"{OP}  output_differentiability: f(a) && b;\n}}\n"),
        (f"{OP}a:non_differentiable;}}", f"{OP}  a: non_differentiable;\n}}\n"),
    ],
)
def test_file(text: str, wanted: str) -> None:
    assert formatted(text) == wanted
    assert formatted(wanted) == wanted


@pytest.mark.parametrize("path", SPECS, ids=[p.stem for p in SPECS])
def test_specs_come_back_from_any_layout(path: Path) -> None:
    """Each spec, its blanks and comments drawn anew, means what it did, and has one form."""
    text = path.read_text()
    for seed in range(2):
        random = Random(f"{path.stem}{seed}")
        plain = relaid(text, random, _GAPS[:4])
        assert formatted(plain) == formatted(relaid(text, random, [" "]))
        commented = relaid(text, random, _GAPS)
        laid_out = formatted(commented)
        assert formatted(laid_out) == laid_out
        assert meaning(laid_out) == meaning(text) == meaning(commented)
        before, after = ([c.text for c in parse_layout(t).comments] for t in (commented, laid_out))
        assert sorted(after) == sorted(before)


def tokens_of(text: str, start: str = "start") -> list[str]:
    """The tokens of a formula or statement."""

    def one(_: str, token: str, __: tuple[str, ...]) -> list[str]:
        return [token]

    return fold_formula(text, one, lambda _, parts: [token for part in parts for token in part], start)


def relaid(text: str, random: Random, gaps: list[str]) -> str:
    """The same tokens in another layout, without the comments that were there."""
    out: list[str] = []

    def put(*tokens: str) -> None:
        out.append(spread(list(tokens), random, gaps))

    def rules(block: Block) -> None:
        for member in block.members:
            if isinstance(member, Block):
                put(member.keyword, text[slice(*member.head)], "{")
                rules(member)
                put("}")
                continue
            if isinstance(member, Statement):
                put(*tokens_of(text[member.start : member.end], "statement"))
                continue
            value = text[slice(*member.formula)]
            put(*_joined([[name] for name in member.names], ","), ":")
            put(*([value] if value.startswith("[") else tokens_of(value)), ";")

    for item in parse_layout(text).items:
        if isinstance(item, Block):
            put(item.keyword, " ".join(text[slice(*item.head)].split()), "{")
            rules(item)
            put("}")
        else:
            put(item.keyword, *_joined([[name] for name in item.names], ","), ";")
    return "".join(out)


# ------------------------------------------------------------------------------------------------------------ command line

UGLY = "op f(Tensor a)->Tensor{a:grad;}"
NICE = "op f(Tensor a) -> Tensor {\n  a: grad;\n}\n"
WRONG = "op f(Tensor a) -> Tensor { a: grad + ; }\n"


def test_a_file_is_rewritten(tmp_path: Path, run_gradspec: RunGradspec) -> None:
    for name, text in {"a.grad": UGLY, "b.grad": NICE, "c.grad": "\ufeff" + NICE.replace("\n", "\r\n")}.items():
        (tmp_path / name).write_text(text, newline="")
    before = (tmp_path / "b.grad").stat().st_mtime_ns
    done = run_gradspec("fmt", "a.grad", "b.grad", "c.grad", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "a.grad formatted\nc.grad formatted\n", "")
    assert [(tmp_path / f"{n}.grad").read_bytes() for n in "abc"] == [NICE.encode()] * 3
    assert (tmp_path / "b.grad").stat().st_mtime_ns == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.grad", "b.grad", "c.grad"]


def test_check_changes_nothing_and_names_files(tmp_path: Path, run_gradspec: RunGradspec) -> None:
    (tmp_path / "a.grad").write_text(UGLY)
    (tmp_path / "b.grad").write_text(NICE)
    done = run_gradspec("fmt", "--check", "a.grad", "b.grad", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "a.grad would change\n", "")
    assert (tmp_path / "a.grad").read_text() == UGLY
    assert run_gradspec("fmt", "--check", "b.grad", cwd=tmp_path).returncode == 0


def test_a_wrong_file_is_reported_and_left(tmp_path: Path, run_gradspec: RunGradspec) -> None:
    (tmp_path / "a.grad").write_text(WRONG)
    (tmp_path / "b.grad").write_text(UGLY)
    done = run_gradspec("fmt", "a.grad", "b.grad", "c.grad", cwd=tmp_path)
    assert done.returncode == 1
    assert "error[GS0201]" in done.stderr
    assert "a.grad:1:36" in done.stderr
    assert "cannot read c.grad" in done.stderr
    assert (tmp_path / "a.grad").read_text() == WRONG
    assert (tmp_path / "b.grad").read_text() == NICE


def test_stdout_leaves_the_file(tmp_path: Path, run_gradspec: RunGradspec) -> None:
    (tmp_path / "a.grad").write_text(UGLY)
    done = run_gradspec("fmt", "--stdout", "a.grad", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, NICE)
    assert (tmp_path / "a.grad").read_text() == UGLY


def test_yaml_is_not_for_fmt(tmp_path: Path, run_gradspec: RunGradspec) -> None:
    done = run_gradspec("fmt", "d.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "gradspec import" in done.stderr


def test_a_link_stays_one_and_the_mode_too(tmp_path: Path) -> None:
    real = tmp_path / "real.grad"
    real.write_text(UGLY)
    real.chmod(0o640)
    link = tmp_path / "link.grad"
    link.symlink_to(real)
    rewrite_file(link, NICE)
    assert link.is_symlink()
    assert real.read_text() == NICE
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_file_is_whole_when_its_disk_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.grad"
    path.write_text(UGLY)

    def fails(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="no room"):
        rewrite_file(path, NICE)
    assert path.read_text() == UGLY
    assert [p.name for p in tmp_path.iterdir()] == ["a.grad"]


def test_a_new_file_has_the_mode_of_new_files(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("")
    rewrite_file(tmp_path / "a.grad", NICE)
    assert (tmp_path / "a.grad").stat().st_mode == other.stat().st_mode
