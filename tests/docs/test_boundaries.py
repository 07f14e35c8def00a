"""Broad catches stand where ADR 1 says that they do, and nowhere else."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
import re

from copilot_admin.settings import BASE_DIR

BROAD = frozenset({"Exception", "BaseException"})
# Whoever catches one of each row catches what any mistake of code is.
MISTAKES = ({"TypeError"}, {"AttributeError"}, {"LookupError", "KeyError", "IndexError"})
SIGN = re.compile(r"Exception\b|except\s*:|AttributeError|(?:except|suppress)\b.*\b[A-Z_]{4,}\b")
CONSTANT = re.compile(r"^([A-Z_]+)\b.* = \(([^()]+)\)", re.MULTILINE)
CLASS_OR_CONSTANT = re.compile(r"\b[A-Z]\w+")
DECISION = BASE_DIR / "docs" / "adr" / "0001-a-run-is-two-tasks.md"
ROW = re.compile(r"^\| .+ \| `(\S+\.py)` \| (.+) \|$", re.MULTILINE)


def of_product() -> list[Path]:
    return [
        file for room in ("copilot_admin", "protocol") for file in (BASE_DIR / room).rglob("*.py")
    ]


@cache
def constants() -> dict[str, set[str]]:
    """The names in the tuples of the product that have a name; of two of one name those of both."""
    found: dict[str, set[str]] = {}
    for file in of_product():
        for name, inside in CONSTANT.findall(file.read_text()):
            found.setdefault(name, set()).update(CLASS_OR_CONSTANT.findall(inside))
    return found


def catches(file: Path) -> Iterator[tuple[str, str]]:
    """The file and the function of every broad catch in a file."""
    text = file.read_text()
    if not SIGN.search(text):
        return
    tree = ast.parse(text)
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    for node in ast.walk(tree):
        if is_broad(node):
            around = [one.name for one in functions if node in set(ast.walk(one))]
            yield str(file.relative_to(BASE_DIR)), around[-1] if around else ""


def is_broad(node: ast.AST) -> bool:
    match node:
        case ast.ExceptHandler(type=None):
            return True
        case ast.ExceptHandler(type=ast.expr() as caught):
            return names_all(caught)
        case ast.Call(func=called, args=kinds) if ast.unparse(called).endswith("suppress"):
            return any(map(names_all, kinds))
    return False


def names_all(caught: ast.expr) -> bool:
    names = {one.id for one in ast.walk(caught) if isinstance(one, ast.Name)}
    while names < (more := names.union(*(constants().get(one, ()) for one in names))):
        names = more
    return bool(names & BROAD) or all(names & row for row in MISTAKES)


def test_broad_catches_stand_at_the_boundaries_that_the_decision_names():
    found = sorted(one for file in of_product() for one in catches(file))
    named = sorted(
        (file, function)
        for file, functions in ROW.findall(DECISION.read_text())
        for function in re.findall(r"`(\w+)`", functions)
    )
    assert found == named
    assert len(named) > 0


def test_every_way_to_catch_everything_is_found(tmp_path, monkeypatch):
    file = tmp_path / "module.py"
    file.write_text(
        "def plain():\n  try: pass\n  except: pass\n"
        "def outer():\n  async def inner():\n    try: pass\n    except (KeyError, Exception): pass\n"
        "def quiet():\n  with contextlib.suppress(BaseException): pass\n"
        "def any_mistake():\n  try: pass\n  except (AttributeError, TypeError, KeyError): pass\n"
        "def by_name():\n  with suppress(*OUTAGES): pass\n"
        "def narrow():\n  try: pass\n  except KeyError: pass\n"
        "try: pass\nexcept Exception as error: raise ValueError from error\n"
    )
    monkeypatch.setattr("tests.docs.test_boundaries.BASE_DIR", tmp_path)
    monkeypatch.setattr(
        "tests.docs.test_boundaries.constants",
        lambda: {
            "OUTAGES": {"FAULTS", "OSError"},
            "FAULTS": {"TypeError", *MISTAKES[1], "KeyError"},
        },
    )
    assert sorted(function for _, function in catches(file)) == [
        "",
        "any_mistake",
        "by_name",
        "inner",
        "plain",
        "quiet",
    ]
