"""The code in docs/extending.md, and ways to put it into the product."""

from importlib import import_module
from pathlib import Path
import re
from textwrap import dedent
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
_RECIPE = re.compile(
    r"^(?:Save as|Add to)[^\n]*?`([\w/]+/\w+\.py)`[^\n]*:\n\n```python\n(.*?)```",
    re.MULTILINE | re.DOTALL,
)
# Code by the file of the product that it belongs to.
RECIPES = dict(_RECIPE.findall((ROOT / "docs" / "extending.md").read_text()))
NEW_FILES = tuple(path for path in RECIPES if not (ROOT / path).exists())


def import_product(path: str) -> ModuleType:
    """Import a module of the product by its path."""
    return import_module(path.removesuffix(".py").replace("/", "."))


def write(path: str, folder: Path) -> tuple[ModuleType, Path]:
    """Write a new file below a folder; return its package and the new folder of the package."""
    target = folder / path
    target.parent.mkdir(parents=True)
    target.write_text(RECIPES[path])
    return import_product(str(Path(path).parent)), target.parent


def execute(path: str) -> dict[str, Any]:
    """Execute definitions as if they stood at the end of their module; return its names."""
    names = dict(vars(import_product(path)))
    exec(dedent(RECIPES[path]), names)  # noqa: S102  # our own document
    return names


def evaluate(path: str) -> Any:
    """Evaluate a row as if it stood in its module."""
    return eval(RECIPES[path], dict(vars(import_product(path))))  # noqa: S307  # our own document
