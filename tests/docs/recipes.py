"""The recipes of docs/extending.md as files, beside those of the product.

`python -m tests.docs.recipes FOLDER ...` runs pytest over a product that has them; they are written
below FOLDER, so that nothing of the tree is touched.
"""

from importlib import import_module
from pathlib import Path
import re
import sys
from types import ModuleType

import pytest

from protocol import features
from protocol.features import Feature

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "extending.md"
_FILE = re.compile(
    r"[Ss]ave\s+it\s+as\s+`(\w+)\.py`\s+in\s+`copilot_admin/((?:engine|alerts)/\w+)/`.*?```python\n(.*?)```",
    re.DOTALL,
)
_FEATURE = re.compile(r"```python\n(Feature\(.*?)```", re.DOTALL)


def written(folder: Path) -> dict[str, str]:
    """Writes every recipe below a folder; returns their names by the package they are for."""
    found = {}
    for name, room, code in _FILE.findall(DOCUMENT.read_text()):
        (folder / room).mkdir(parents=True)
        (folder / room / f"{name}.py").write_text(code)
        found[room] = name
    return found


def package(room: str) -> ModuleType:
    """The package of the product that a recipe is for."""
    return import_module(f"copilot_admin.{room.replace('/', '.')}")


def new_feature() -> Feature:
    """The row that the recipe of a feature flag adds."""
    (code,) = _FEATURE.findall(DOCUMENT.read_text())
    feature = eval(code, {"Feature": Feature})  # noqa: S307  # our own document
    assert isinstance(feature, Feature)
    return feature


def main(folder: Path, arguments: list[str]) -> int:
    """Runs pytest with the recipes in the product."""
    for room in written(folder):
        package(room).__path__.append(str(folder / room))
    if new_feature().key not in features.FEATURE_KEYS:
        features.FEATURES += (new_feature(),)
        features.FEATURE_KEYS |= {new_feature().key}
    return pytest.main(arguments)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
