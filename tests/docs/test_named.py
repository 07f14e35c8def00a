"""What documents and the texts at the heads of rooms name by its last name exists too."""

import ast
from functools import cache
from pathlib import Path
import re

import pytest

from copilot_admin.settings import BASE_DIR
from tests.docs.recipes import written
from tests.docs.test_docs import BLOCK, DOCUMENTS

FOLDERS = ("benchmarks", "copilot_admin", "deploy", "docs", "protocol", "templates", "tests")
FILE = re.compile(r"`([\w-][\w./-]*\.(?:css|html|js|md|py|toml))`")
ANCHORED = re.compile(r"\]\(([^)\s:#]*)#([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
NAME = re.compile(r"`(?:\w+[./])*?(\w+)(?:/|\.py)?`")
ROOMS = [
    file
    for folder in ("benchmarks", "copilot_admin", "protocol", "tests")
    for file in sorted((BASE_DIR / folder).rglob("__init__.py"))
    if file.stat().st_size
]


@cache
def ends() -> frozenset[str]:
    """The paths of all files, whole and without some of their folders."""
    files = [file for file in BASE_DIR.iterdir() if file.is_file()]
    files += [file for folder in FOLDERS for file in (BASE_DIR / folder).rglob("*.*")]
    paths = [file.relative_to(BASE_DIR).parts for file in files]
    return frozenset("/".join(parts[start:]) for parts in paths for start in range(len(parts)))


@cache
def modules() -> frozenset[str]:
    """The last names of all modules and packages."""
    files = [file for folder in FOLDERS for file in (BASE_DIR / folder).rglob("*.py")]
    return frozenset(name for file in files for name in (file.stem, file.parent.name))


def anchor(heading: str) -> str:
    """What a link to a heading says behind its `#`."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def nameless(room: Path) -> set[str]:
    """What the text at the head of a room names, and neither a module nor a file of it has."""
    names = set(NAME.findall(ast.get_docstring(ast.parse(room.read_text())) or "")) - modules()
    if names:
        words = {
            word
            for file in room.parent.rglob("*.py")
            if file != room
            for word in re.findall(r"\w+", file.read_text())
        }
        names -= words
    return names


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
class TestEveryDocument:
    def test_the_files_that_it_names_without_their_folders_exist(
        self, document: Path, tmp_path: Path
    ):
        named = set(FILE.findall(BLOCK.sub("", document.read_text())))
        of_recipes = {f"{name}.py" for name in written(tmp_path).values()}
        assert named - ends() - of_recipes == set()

    def test_its_links_lead_to_headings(self, document: Path):
        for page, wanted in ANCHORED.findall(document.read_text()):
            text = (document.parent / page if page else document).read_text()
            assert wanted in map(anchor, HEADING.findall(BLOCK.sub("", text))), (page, wanted)


def test_what_the_head_of_a_room_names_is_there():
    assert {str(room.parent): names for room in ROOMS if (names := nameless(room))} == {}
