"""Components by name and version, and those that are left out."""

from collections.abc import Generator
from types import ModuleType
from typing import Any

import pytest

from copilot_admin.agent.components import registry as module
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.calculator import Calculator
from copilot_admin.agent.components.registry import Registry, registry
from protocol.components import ComponentOutput, create_output
from tests.agent.components.sample_components import Echo


def version(version: str, **changes: Any) -> type[Component]:
    return type("Version", (Echo,), {"version": version, **changes})


def test_versions_are_ordered_by_their_numbers():
    classes = [version(one) for one in ("v10", "v2", "v1", "v1.10", "v1.9", "beta")]
    found = Registry(classes)
    assert found.versions("echo") == ("beta", "v1", "v1.9", "v1.10", "v2", "v10")
    assert [one.version for one in found.all()] == [*found.versions("echo")]
    assert found.names() == ("echo",)
    assert found.faults == []


def test_the_newest_is_meant_where_no_version_is_named():
    old, new = version("v2"), version("v10")
    found = Registry([new, old])
    assert [found.find("echo"), found.find("echo", "latest"), found.find("echo", "")] == [new] * 3
    assert [found.find("echo", "v2"), found.find("echo", "2")] == [old] * 2
    assert [found.find("echo", "v3"), found.find("nobody"), found.versions("nobody")] == [
        None,
        None,
        (),
    ]


def test_an_exact_version_comes_before_one_that_is_meant():
    bare, named = version("1"), version("v1")
    found = Registry([named, bare])
    assert found.find("echo", "1") is bare
    assert found.find("echo", "v1") is named


def test_all_are_listed_by_name_and_age():
    found = Registry([version("v2"), Calculator, version("v1")])
    assert [(one.name, one.version) for one in found.all()] == [
        ("calculator", "v1"),
        ("echo", "v1"),
        ("echo", "v2"),
    ]


def test_of_two_of_the_same_name_and_version_the_second_is_left_out():
    first, second = version("v1"), version("v1")
    found = Registry([first, second])
    assert found.find("echo") is first
    assert [fault.finding.detail for fault in found.faults] == ["there are two components echo v1."]


def test_no_version_is_called_latest():
    found = Registry([version("latest")])
    assert found.names() == ()
    (fault,) = found.faults
    assert fault.sentence == (
        "The component tests.agent.components.test_registry.Version breaks ManifestValidRule: "
        "the version 'latest' is a name for the newest one."
    )


def test_one_that_breaks_a_rule_is_left_out():
    class Strict(Component):
        name = "strict"

        def tool_eval(self) -> Generator[ComponentOutput, None, None]:
            """Takes nothing of the system."""
            yield create_output("text", "x")

    found = Registry([Strict, Echo])
    assert found.names() == ("echo",)
    assert [fault.component for fault in found.faults] == [Strict]


def test_components_are_found_in_the_modules_of_the_folder(monkeypatch: pytest.MonkeyPatch):
    class Written(Echo):
        version = "v3"

    here, foreign = ModuleType("here"), ModuleType("foreign")
    Written.__module__ = "here"
    here.__dict__.update(Written=Written, Component=Component, Echo=Echo, Other=int, number=3)
    foreign.__dict__.update(Written=Written)
    modules = {"here": here, "foreign": foreign}
    monkeypatch.setattr(module, "iter_modules", lambda path: [_Named("here"), _Named("foreign")])
    monkeypatch.setattr(module, "import_module", lambda name: modules[name.rpartition(".")[2]])
    registry.cache_clear()
    try:
        assert [*registry().all()] == [Written]
    finally:
        registry.cache_clear()


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name
