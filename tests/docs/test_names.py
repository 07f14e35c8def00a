"""What a file adds to a folder has a name of its own: of two with one name a scan takes the last."""

from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import pytest

from copilot_admin.agent import client_functions, documents, providers, tools
from copilot_admin.agent.client_functions.registry import ClientFunction
from copilot_admin.agent.documents.registry import Format
from copilot_admin.agent.tools.registry import Tool
from copilot_admin.alerts import kinds
from copilot_admin.alerts.kind import RuleKind
from copilot_admin.transcripts.exports import formats
from copilot_admin.transcripts.exports.format import ExportFormat

Names = Callable[[Any], Iterable[str]]


def of_provider(one: Any) -> list[str]:
    is_one = isinstance(one, type) and isinstance(vars(one).get("kind"), str)
    return [one.kind] if is_one else []


def of_function(one: Any) -> list[str]:
    is_one = isinstance(one, type) and issubclass(one, ClientFunction) and "name" in vars(one)
    return [one.name] if is_one else []


def of_tool(one: Any) -> list[str]:
    return [one.schema.name] if isinstance(one, Tool) else []


def of_file(one: Any) -> list[str]:
    return list(one.data_types) if isinstance(one, Format) else []


def of_rule(one: Any) -> list[str]:
    return [one.name] if isinstance(one, RuleKind) else []


def of_export(one: Any) -> list[str]:
    is_one = isinstance(one, type) and issubclass(one, ExportFormat) and "name" in vars(one)
    return [one.name] if is_one else []


def names_in(folder: ModuleType, names: Names) -> list[str]:
    """The names of everything that the modules of a folder hold, each object once."""
    modules = [
        import_module(f"{folder.__name__}.{one.name}") for one in iter_modules(folder.__path__)
    ]
    found = {id(one): one for module in modules for one in vars(module).values()}
    return [name for one in found.values() for name in names(one)]


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        (providers, of_provider),
        (client_functions, of_function),
        (tools, of_tool),
        (documents, of_file),
        (kinds, of_rule),
        (formats, of_export),
    ],
)
def test_no_two_have_one_name(folder: ModuleType, names: Names) -> None:
    counted = Counter(names_in(folder, names))
    assert len(counted) > 1
    assert [name for name, number in counted.items() if number > 1] == []
