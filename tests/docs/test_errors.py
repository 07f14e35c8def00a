"""The tree at the head of `errors` is the tree of its classes, and each of them is used."""

from collections import Counter
import inspect
import re

from copilot_admin import errors
from copilot_admin.errors import CopilotError
from copilot_admin.settings import BASE_DIR

LINE = re.compile(r"^([│├└─ ]*)([A-Z]\w+)(?: {2,}.+)?$")
CLASS = re.compile(r"\b[A-Z]\w+")
INDENT = 4  # characters for each generation


def drawn() -> list[tuple[str, str]]:
    """The classes of the drawing, each with its parent."""
    above: list[str] = []
    pairs = []
    for line in (errors.__doc__ or "").splitlines():
        if match := LINE.match(line):
            depth, name = len(match[1]) // INDENT, match[2]
            pairs.append((name, above[depth - 1] if depth else "Exception"))
            above[depth:] = [name]
    return pairs


def defined() -> list[tuple[str, str]]:
    """The public classes, each with its nearest public parent."""
    classes = [one for one in vars(errors).values() if inspect.isclass(one)]
    ours = [one for one in classes if issubclass(one, CopilotError) and one.__name__[0] != "_"]
    return [(one.__name__, _parent(one)) for one in ours]


def _parent(one: type) -> str:
    return next(base.__name__ for base in one.__mro__[1:] if base.__name__[0] != "_")


def test_the_drawing_shows_what_there_is():
    assert sorted(drawn()) == sorted(defined())


def test_every_error_is_raised_or_caught_somewhere():
    """A file that imports one and uses it names it twice."""
    files = [
        file for file in (BASE_DIR / "copilot_admin").rglob("*.py") if file.name != "errors.py"
    ]
    used = {
        name
        for file in files
        for name, number in Counter(CLASS.findall(file.read_text())).items()
        if number > 1
    }
    assert {name for name, _ in defined()} - used == set()
