"""What benchmarks and tests run in other processes imports what there is; a program says what it does."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
import re

import pytest

from copilot_admin.settings import BASE_DIR

IMPORT = re.compile(
    r"^from ((?:copilot_admin|protocol|benchmarks|tests)[\w.]*) import (\w[\w, ]*)", re.MULTILINE
)


def imports() -> Iterator[tuple[str, str]]:
    """The modules and names that programs in strings import: no checker of types reads those."""
    for folder in ("benchmarks", "tests"):
        for file in sorted((BASE_DIR / folder).rglob("*.py")):
            yield from imports_of(file)


def imports_of(file: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for module, names in IMPORT.findall(node.value):
                yield from ((module, name.strip()) for name in names.split(","))


@pytest.mark.parametrize(("module", "name"), sorted(set(imports())))
def test_a_program_in_a_string_imports_what_there_is(module, name):
    imported = import_module(module)
    assert hasattr(imported, name) or import_module(f"{module}.{name}")


# The two start from the walls alone, with arguments of their own.
STARTED_BY_OTHERS = {"benchmarks.walls.bystander", "benchmarks.walls.strangers"}


def programs() -> set[str]:
    """The modules that somebody may start."""
    files = (BASE_DIR / "benchmarks").rglob("*.py")
    found = (file for file in files if '__name__ == "__main__"' in file.read_text(encoding="utf-8"))
    names = {".".join(file.relative_to(BASE_DIR).with_suffix("").parts) for file in found}
    return names - STARTED_BY_OTHERS


@pytest.mark.parametrize("program", sorted(programs()))
def test_a_program_that_is_asked_says_what_it_does_and_starts_nothing(program, capsys):
    with pytest.raises(SystemExit) as ended:
        import_module(program).main(["--help"])
    usage = f"usage: python -m {program.removesuffix('.__main__')} [-h]"
    assert (ended.value.code, capsys.readouterr().out.startswith(usage)) == (0, True)
