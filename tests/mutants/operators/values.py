"""Changes of what is written down: numbers, flags, words, and members of enumerations."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
import re

from tests.mutants.source import Edit, Source
from tests.mutants.spots import Spot

MUCH = 20  # what a named constant is multiplied by: a limit that nobody feels then has no test
_Members = Mapping[str, Sequence[str]]


def number(spot: Spot, source: Source) -> Iterator[Edit]:
    """`n` becomes `n + 1`, and in a named constant twenty times as much."""
    match spot:
        case Spot(node=ast.Constant(value=bool())):
            return
        case Spot(node=ast.Constant(value=int() | float() as value) as node):
            if not spot.in_named_constant or value == 0:
                yield source.replaced(node, repr(value + 1))
            elif not _is_second_factor(spot):
                yield source.replaced(node, repr(value * MUCH))


def flag(spot: Spot, source: Source) -> Iterator[Edit]:
    """`True` becomes `False`."""
    match spot:
        case Spot(node=ast.Constant(value=bool() as value) as node) if not _is_strict_zip(spot):
            yield source.replaced(node, repr(not value))


def word(spot: Spot, source: Source) -> Iterator[Edit]:
    """`"key"` becomes another one; sentences stay, and fields that are empty when not given."""
    match spot.node:
        case ast.Constant(value=str() | bytes() as text) as node:
            if _is_for_people(text) or _is_empty_field(spot):
                return
            closing = source.end(node) - 1
            yield Edit(closing, closing, "_other")


class Sibling:
    """`Kind.CALL` becomes `Kind.RESULT`."""

    def __init__(self, members: _Members) -> None:
        self._members = members

    def __call__(self, spot: Spot, source: Source) -> Iterator[Edit]:
        match spot.node:
            case ast.Attribute(value=ast.Name(id=owner), attr=member) as node:
                siblings = self._members.get(owner, ())
                if member in siblings and len(siblings) > 1:
                    after = siblings[(siblings.index(member) + 1) % len(siblings)]
                    yield source.replaced(node, f"{owner}.{after}")


def enumerations(trees: Iterable[ast.Module]) -> _Members:
    """The members of every enumeration, by its name."""
    classes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return {
        one.name: tuple(_members(one)) for one in classes if any(map(_is_enumeration, one.bases))
    }


def _members(definition: ast.ClassDef) -> Iterator[str]:
    for statement in definition.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) if name.isupper():
                yield name


def _is_enumeration(base: ast.expr) -> bool:
    name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
    return name.endswith(("Enum", "Choices"))


def _is_second_factor(spot: Spot) -> bool:
    return isinstance(spot.parent, ast.BinOp) and spot.parent.right is spot.node


def _is_strict_zip(spot: Spot) -> bool:
    """Whether this says that what is zipped is of one length, which it is."""
    match spot.around[-2:]:
        case (ast.Call(func=ast.Name(id="zip")), ast.keyword()):
            return True
    return False


def _is_empty_field(spot: Spot) -> bool:
    """Whether this says that a field holds nothing when it is not given."""
    match spot:
        case Spot(node=ast.Constant(value=""), around=(*_, ast.AnnAssign())):
            return spot.function is None
    return False


def _is_for_people(text: str | bytes) -> bool:
    """Whether this is a sentence; bytes are read by programs only."""
    return isinstance(text, str) and re.search(r"\w\s|\s\w", text) is not None
