"""The tables of rooms in docs/architecture.md are those of the import contracts, in their order."""

import re
import tomllib

import pytest

from copilot_admin.settings import BASE_DIR


def contract_of(container: str) -> list[set[str]]:
    """The rooms of each layer, from top to bottom."""
    settings = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract.get("containers") == [container]:
            return [set(layer.split(" | ")) for layer in contract["layers"]]
    raise LookupError(container)


def told_rooms(number: int) -> list[str]:
    """The rooms of a table of the document, row by row."""
    tables = (BASE_DIR / "docs" / "architecture.md").read_text().split("| room |")
    rows = tables[number].split("\n\n")[0].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`(\w+)/?`", row.split("|")[1])]


@pytest.mark.parametrize(
    ("number", "container", "beside"),
    [(1, "copilot_admin", {"protocol"}), (2, "copilot_admin.agent", set())],
)
def test_the_table_tells_every_room_in_the_order_of_imports(
    number: int, container: str, beside: set[str]
) -> None:
    layers = contract_of(container)
    told = [name for name in told_rooms(number) if name not in beside]
    places = [next(place for place, layer in enumerate(layers) if name in layer) for name in told]
    assert sorted(told) == sorted(name for layer in layers for name in layer)
    assert places == sorted(places)


def test_the_rooms_of_the_admin_are_told() -> None:
    text = (BASE_DIR / "docs" / "architecture.md").read_text()
    paragraph = text.partition("The rooms of `admin/`")[2].partition("\n\n")[0]
    rooms = {name for layer in contract_of("copilot_admin.admin") for name in layer}
    assert rooms - set(re.findall(r"`(\w+)/`", paragraph)) == set()
