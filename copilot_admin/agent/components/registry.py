"""Finds the components: every subclass of `Component` in a module of this folder."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
import re
from types import ModuleType
from typing import TypeGuard

from copilot_admin.agent import components
from copilot_admin.agent.components.base import Component
from copilot_admin.errors import ConfigurationError
from protocol.components import ContractFinding, ContractRule, static_findings

LATEST = "latest"
_NUMBERS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class ComponentFault:
    """A component that cannot be used, and what is wrong with it."""

    component: type[Component]
    finding: ContractFinding

    @property
    def sentence(self) -> str:
        """Which class breaks which rule, and what would be right."""
        where = f"{self.component.__module__}.{self.component.__qualname__}"
        return f"The component {where} breaks {self.finding.rule}: {self.finding.detail}"


class Registry:
    """Components by name and version; those that break a rule are left out and kept as faults.

    Args:
        classes: Two versions of one name are two components.
    """

    def __init__(self, classes: Iterable[type[Component]]) -> None:
        self.faults: list[ComponentFault] = []
        self._versions: dict[str, dict[str, type[Component]]] = {}
        for component in classes:
            self._register(component)

    def names(self) -> tuple[str, ...]:
        """The names, in alphabetical order."""
        return tuple(sorted(self._versions))

    def versions(self, name: str) -> tuple[str, ...]:
        """The versions of a component, oldest first: v2 comes before v10."""
        return tuple(sorted(self._versions.get(name, {}), key=_age))

    def find(self, name: str, version: str = LATEST) -> type[Component] | None:
        """A component by name and version.

        Args:
            name: Of the component.
            version: As it stands in the class, without its "v", or "latest".
        """
        known = self._versions.get(name)
        if not known:
            return None
        if version in ("", LATEST):
            return known[self.versions(name)[-1]]
        return known.get(version) or known.get(f"v{version}")

    def all(self) -> Sequence[type[Component]]:
        """Every version of every component, by name and age."""
        return [self._versions[name][one] for name in self.names() for one in self.versions(name)]

    def _register(self, component: type[Component]) -> None:
        findings = list(static_findings(component))
        if component.version in self._versions.get(component.name, {}):
            detail = f"there are two components {component.name} {component.version}."
            findings.append(ContractFinding(ContractRule.MANIFEST_VALID, detail))
        if component.version == LATEST:
            detail = "the version 'latest' is a name for the newest one."
            findings.append(ContractFinding(ContractRule.MANIFEST_VALID, detail))
        self.faults += [ComponentFault(component, finding) for finding in findings]
        if not findings:
            self._versions.setdefault(component.name, {})[component.version] = component


@cache
def registry() -> Registry:
    """All components of this server, found once by a scan of their folder.

    Raises:
        ConfigurationError: A file of the folder cannot be loaded; the text names it.
    """
    return Registry(
        value
        for module in [_loaded(found.name) for found in iter_modules(components.__path__)]
        for value in vars(module).values()
        if _is_written_in(module.__name__, value)
    )


def _loaded(name: str) -> ModuleType:
    module = f"{components.__name__}.{name}"
    try:
        return import_module(module)
    except Exception as error:  # a component's boundary (ADR 7): its file is somebody's code
        file = f"{module.replace('.', '/')}.py"
        raise ConfigurationError(
            f"The component file {file} cannot be loaded: {type(error).__name__}: "
            f"{' '.join(str(error).split())}. Mend the file, or take it away."
        ) from error


def _is_written_in(module: str, value: object) -> TypeGuard[type[Component]]:
    if not (isinstance(value, type) and issubclass(value, Component)):
        return False
    return value.__module__ == module and not _is_base(value)


def _is_base(component: type[Component]) -> bool:
    return not component.name and component.tool_eval is Component.tool_eval


def _age(version: str) -> tuple[tuple[int, str], ...]:
    parts = _NUMBERS.split(version)
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)
