"""What others use of a room are its doors: the modules that the text at its head names as such."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
import re

from copilot_admin.settings import BASE_DIR

# Packages in which each package is a room; one that is no room of its own belongs to the one above.
HOUSES = ("protocol", "copilot_admin", "copilot_admin.admin", "copilot_admin.agent")
ALL = "all its modules are doors"
# Statements of one line or in brackets, as they are formatted, also within functions; and modules
# that are named in a text, as Django's settings name them.
IMPORT = re.compile(r"^ *((?:from [\w.]+ )?import (?:\([^)]*\)|.+))$", re.MULTILINE)
NAMED = re.compile(r'"((?:copilot_admin|protocol)\.[\w.]+)"')


@cache
def modules() -> dict[str, Path]:
    """Every module of the product by its dotted name."""
    files = [file for house in HOUSES[:2] for file in (BASE_DIR / house).rglob("*.py")]
    return {name_of(file): file for file in files if "migrations" not in file.parts}


def name_of(file: Path) -> str:
    parts = file.relative_to(BASE_DIR).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def used_by(text: str) -> Iterator[str]:
    """The modules that a module imports, or names as settings do."""
    for statement in IMPORT.findall(text):
        (node,) = ast.parse(statement).body
        match node:
            case ast.ImportFrom(module=str() as source):
                yield from (nearest(f"{source}.{one.name}") for one in node.names)
            case ast.Import():
                yield from (nearest(one.name) for one in node.names)
    yield from map(nearest, NAMED.findall(text))


def nearest(name: str) -> str:
    """A module, or the module in which something is defined; what is not ours stays as it is."""
    inside = name
    while inside not in modules() and "." in inside:
        inside = inside.rpartition(".")[0]
    return inside


def rooms_around(module: str) -> Iterator[tuple[str, str]]:
    """Each room that a module is in, and its path there."""
    for house in HOUSES:
        first, dot, rest = module.removeprefix(f"{house}.").partition(".")
        if module.startswith(f"{house}.") and dot:
            yield f"{house}.{first}", rest
    if module.startswith("protocol."):
        yield "protocol", module.removeprefix("protocol.")


@cache
def doors_of(room: str) -> frozenset[str] | None:
    """The paths that a room names as its doors; None: all are."""
    text = " ".join((ast.get_docstring(ast.parse(modules()[room].read_text())) or "").split())
    if ALL in text.lower():
        return None
    paths = re.findall(r"`([\w.]+)`", text.partition("Door")[2])
    return frozenset(nearest(f"{room}.{path}").removeprefix(f"{room}.") for path in paths)


def is_door(room: str, path: str) -> bool:
    """Whether a module is a door, or lies behind one that is a package."""
    doors = doors_of(room)
    return doors is None or any(path == door or path.startswith(f"{door}.") for door in doors)


def broken_walls(module: str, text: str) -> set[str]:
    """The modules of other rooms that a module uses although they are no doors."""
    return {
        used
        for used in used_by(text)
        for room, path in rooms_around(used)
        if not f"{module}.".startswith(f"{room}.") and not is_door(room, path)
    }


def test_whoever_enters_a_room_comes_through_a_door():
    found = {
        module: walls
        for module, file in modules().items()
        if (walls := broken_walls(module, file.read_text()))
    }
    assert found == {}


def test_what_is_no_door_is_found():
    text = (
        "from copilot_admin.storage.writer import WRITER\n"
        "from copilot_admin.transcripts.store import JOURNAL, journal\n"
        "def later():\n    import copilot_admin.transcripts.matching.walk\n"
        "from copilot_admin.agent.llm import (\n    deadlines,\n    endings,\n)\n"
        'MIDDLEWARE = ["copilot_admin.http.lingering.refuse", "django.middleware"]\n'
    )
    walls = {
        "copilot_admin.transcripts.store.journal",
        "copilot_admin.transcripts.matching.walk",
        "copilot_admin.agent.llm.deadlines",
        "copilot_admin.http.lingering",
    }
    assert broken_walls("copilot_admin.asgi", text) == walls
    assert broken_walls("copilot_admin.transcripts.matching.tree", text) == walls - {
        "copilot_admin.transcripts.matching.walk"
    }
