"""Prints the ten longest files and functions: an invitation, not a limit."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("protocol", "copilot_admin", "tests", "benchmarks")
SHOWN = 10


def _functions(file: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            yield lines, f"{file.relative_to(ROOT)}:{node.lineno} {node.name}"


def main() -> None:
    """Prints both lists."""
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    lengths = [
        (len(file.read_text(encoding="utf-8").splitlines()), str(file.relative_to(ROOT)))
        for file in files
    ]
    functions = [function for file in files for function in _functions(file)]
    for title, rows in (("files", lengths), ("functions", functions)):
        print(f"The longest {title}, in lines:")
        for length, name in sorted(rows, reverse=True)[:SHOWN]:
            print(f"{length:6} {name}")


if __name__ == "__main__":
    main()
