"""Broad catches stand where ADR 1 says that they do, and nowhere else."""

import ast
from collections.abc import Iterator
from pathlib import Path
import re

from copilot_admin.settings import BASE_DIR

BROAD = frozenset({"Exception", "BaseException"})
SIGN = re.compile(r"Exception\b|except\s*:")  # without it nothing is caught broadly
DECISION = BASE_DIR / "docs" / "adr" / "0001-a-run-is-two-tasks.md"
ROW = re.compile(r"^\| .+ \| `(\S+\.py)` \| (.+) \|$", re.MULTILINE)


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
    return any(isinstance(one, ast.Name) and one.id in BROAD for one in ast.walk(caught))


def test_broad_catches_stand_at_the_boundaries_that_the_decision_names():
    files = [
        file for room in ("copilot_admin", "protocol") for file in (BASE_DIR / room).rglob("*.py")
    ]
    found = sorted(one for file in files for one in catches(file))
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
        "def narrow():\n  try: pass\n  except KeyError: pass\n"
        "try: pass\nexcept Exception as error: raise ValueError from error\n"
    )
    monkeypatch.setattr("tests.docs.test_boundaries.BASE_DIR", tmp_path)
    assert sorted(function for _, function in catches(file)) == ["", "inner", "plain", "quiet"]
