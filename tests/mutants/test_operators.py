"""Every kind of change, on a line of its own; and what is never changed."""

import ast
from pathlib import Path

import pytest

from tests.mutants.drawing import drawn, mutations
from tests.mutants.mutation import Mutation
from tests.mutants.operators import operators

pytestmark = pytest.mark.nightly  # `make mutants` is not run by day either

ENUMERATION = "class Kind(StrEnum):\n    CALL = 1\n    RESULT = 2\n"


def found(tmp_path: Path, text: str) -> list[Mutation]:
    file = tmp_path / "module.py"
    file.write_text(text)
    return list(mutations(tmp_path, file, operators([ast.parse(ENUMERATION)])))


def changes(tmp_path: Path, text: str, operator: str) -> list[str]:
    all_of_them = found(tmp_path, text)
    made = [one.edit.applied(text.encode()) for one in all_of_them if one.operator == operator]
    return [one.decode() for one in made]


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        ("comparison", "a = b < c", ["a = b <= c"]),
        ("comparison", "a = b <= c != d", ["a = b < c != d", "a = b <= c == d"]),
        ("comparison", "a = b is not c", ["a = b is c"]),
        ("comparison", "a = (b) not  in (c)", ["a = (b) in (c)"]),
        ("comparison", "a = (\n    b  # < c\n    > c\n)", ["a = (\n    b  # < c\n    >= c\n)"]),
        ("arithmetic", "a = b + c * d", ["a = b - c * d", "a = b + c / d"]),
        ("arithmetic", "a //= b", ["a *= b"]),
        ("arithmetic", "a = b + 'c'", []),
        ("arithmetic", "a = b + [c]", []),
        ("arithmetic", "a += 'c'", []),
        ("arithmetic", "a = isinstance(b, Left | Right)", []),
        ("arithmetic", "a = isinstance(b, Left | None)", []),
        ("arithmetic", "a = b @ c\na @= b", []),
        ("either or both", "a = b and c and d", ["a = b or c and d", "a = b and c or d"]),
        ("either or both", "a = b or c", ["a = b and c"]),
        ("without not", "a = not (b or c)", ["a = (b or c)"]),
        ("other function", "a = min(b)", ["a = max(b)"]),
        ("without shield", "a = asyncio.shield(b)", ["a = b"]),
        ("number", "a = 1", ["a = 2"]),
        ("number", "a = True", []),
        ("number", "SECONDS = 0.5", ["SECONDS = 10.0"]),
        ("number", "_BYTES = 2 * 1024", ["_BYTES = 40 * 1024"]),
        ("number", "NONE = 0", ["NONE = 1"]),
        ("flag", "a = True", ["a = False"]),
        ("flag", "a = zip(b, c, strict=True)", []),
        ("word", "a = 'b'", ["a = 'b_other'"]),
        ("word", "a = b'b c'", ["a = b'b c_other'"]),
        ("word", "a = ', '", ["a = ', _other'"]),
        ("word", "a = 'Two words.'", []),
        ("word", "class A:\n    b: str = ''", []),
        ("sibling", "a = Kind.CALL", ["a = Kind.RESULT"]),
        ("sibling", "a = Kind.RESULT", ["a = Kind.CALL"]),
        ("sibling", "a = Kind.other\nb = other.CALL", []),
        ("left out", "a(b)", ["pass"]),
        ("left out", "a.b = c", ["pass"]),
        ("left out", "a = b", []),
        ("left out", "def a(self):\n    self.b = c", ["def a(self):\n    pass"]),
        ("left out", "def __init__(self):\n    self.b = c", []),
        ("left out", "if a:\n    raise b", ["if a:\n    pass"]),
        ("left out", "def a():\n    if b:\n        return\n    return", 1),
        ("turned round", "if a: b", ["if not (a): b"]),
        ("turned round", "while a < b: c", ["while not (a < b): c"]),
        ("turned round", "a = b if c else d", ["a = b if not (c) else d"]),
        ("turned round", "a = [b for b in c if d]", ["a = [b for b in c if not (d)]"]),
        ("turned round", "match a:\n    case b if c: d", ["match a:\n    case b if not (c): d"]),
        ("turned round", "if not a: b\nif a == b: c", []),
        ("nothing returned", "def a() -> int | None:\n    return b", 1),
        ("nothing returned", "def a() -> 'B | None':\n    return b", 1),
        ("nothing returned", "def a() -> int:\n    return b", []),
        ("nothing returned", "def a() -> int | None:\n    return None", []),
        ("opposite returned", "def a() -> bool:\n    return b", 1),
        ("opposite returned", "def a() -> bool:\n    return b == c", []),
        ("opposite returned", "def a() -> int:\n    return b", []),
    ],
)
def test_a_change_leaves_the_rest_as_it_is_written(
    tmp_path: Path, operator: str, before: str, after: list[str] | int
) -> None:
    made = changes(tmp_path, before, operator)
    assert (made if isinstance(after, list) else len(made)) == after


@pytest.mark.parametrize(
    "text",
    [
        '"""A docstring."""',
        "def a(b: Literal['c']) -> dict['d', 1]: ...",
        "a: Literal[1, 'b']",
        "A: TypeAlias = Literal[1]",
        "T = TypeVar('T')",
        "@dataclass(frozen=True)\nclass A: ...",
        "if TYPE_CHECKING:\n    a(1)",
        "class A:\n    def __repr__(self):\n        return 'a' + b(1)",
        "logger.warning('a', b(1))",
        "a = logging.getLogger('b')",
        "assert_never(1)",
        "a = f'{b + 1}'",
        "__all__ = ['a']",
        "from a import b",
        "try: ...\nexcept a(1): ...",
    ],
)
def test_what_no_test_has_to_notice_is_not_changed(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == []


def test_a_raise_may_be_left_out_but_says_what_it_says(tmp_path: Path) -> None:
    assert [one.operator for one in found(tmp_path, "raise A('b', c(1))")] == ["left out"]


def test_a_change_that_is_no_python_is_not_made(tmp_path: Path) -> None:
    assert changes(tmp_path, "a = '''b'''", "word") == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a(\n    b,\n    1,\n)", range(1, 5)),
        ("if (\n    a\n    > 1\n):\n    b", range(3, 4)),
        ("def a(b=1):\n    c\n    d", range(2, 4)),
        ("match a:\n    case 1:\n        b", range(2, 3)),
    ],
)
def test_a_change_knows_which_lines_run_it(tmp_path: Path, text: str, lines: range) -> None:
    (number,) = (one for one in found(tmp_path, text) if one.operator == "number")
    assert number.lines == lines


def test_a_change_is_shown_as_a_diff_of_its_lines(tmp_path: Path) -> None:
    text = "if a:\n    b(\n        1,\n    )\n"
    shown = {one.operator: one.shown(text.encode()) for one in found(tmp_path, text)}
    assert shown == {
        "turned round": "- if a:\n+ if not (a):",
        "left out": "- b( ...\n+ pass",
        "number": "- 1,\n+ 2,",
    }


def test_the_same_seed_draws_the_same_changes_one_of_a_line(tmp_path: Path) -> None:
    every = found(tmp_path, "\n".join(f"a = {number} < {number}" for number in range(50)))
    first = drawn(every, number=20, seed=7)
    assert first == drawn(every, number=20, seed=7)
    assert first != drawn(every, number=20, seed=8)
    assert len({one.line for one in first}) == 20
    assert len(drawn(every, number=1000, seed=7)) == 50
