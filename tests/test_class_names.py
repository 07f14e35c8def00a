"""A class says by its name what it stands for: no two public ones of the product share one."""

from collections import defaultdict
from functools import cache
from pathlib import Path
import re

import pytest

ROOT = Path(__file__).parent.parent
OUTERMOST = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)  # and public
# Those that somebody else has named, each with the one beside it.
GIVEN = {
    "Command": "Django looks for commands under this name",
    "Event": "the row keeps what the client was told",
    "FunctionCall": "AppBuilder's contract of components has one, Workspace's protocol the other",
    "Select": "a model is told the steps of a table under their names",
    "Task": "AppBuilder's contract of components has one, Workspace's agents the other",
    "Thought": "AppBuilder's contract of components has one",
}


def classes(*folders: Path) -> dict[str, list[str]]:
    """The public classes of modules, by name, with the files in which they stand."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in (file for folder in folders for file in sorted(folder.rglob("*.py"))):
        for name in OUTERMOST.findall(file.read_text()):
            found[name].append(file.name)
    return found


@cache
def those_of_the_product() -> dict[str, list[str]]:
    return classes(ROOT / "protocol", ROOT / "copilot_admin")


def shared(found: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: files for name, files in found.items() if len(files) > 1}


def test_each_class_has_a_name_of_its_own():
    found = shared(those_of_the_product())
    assert set(found) - set(GIVEN) == {"Migration"}


@pytest.mark.parametrize("name", GIVEN)
def test_each_name_that_was_given_is_still_shared(name):
    assert len(those_of_the_product()[name]) > 1


def test_a_name_that_stands_for_two_things_is_found(tmp_path):
    (tmp_path / "one.py").write_text("class Place: ...\nclass _Own: ...\nclass Turn: ...")
    (tmp_path / "two.py").write_text("class Place: ...\nclass _Own: ...")
    assert shared(classes(tmp_path)) == {"Place": ["one.py", "two.py"]}
