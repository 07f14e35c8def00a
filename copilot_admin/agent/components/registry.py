"""The components of this server.

Add new components to `COMPONENTS`, and new versions below the earlier ones.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import cache
from typing import Any

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.calculator import Calculator
from copilot_admin.agent.components.chart_maker import ChartMaker
from copilot_admin.agent.components.document_search import DocumentSearch
from copilot_admin.agent.components.inputs import MODEL, ModelClient
from copilot_admin.agent.components.returns_toolkit import ReturnsToolkit
from copilot_admin.agent.components.runs import ComponentRun
from copilot_admin.agent.components.similar_question import SimilarQuestion
from copilot_admin.agent.components.table_analyst import TableAnalyst
from copilot_admin.agent.providers.demo import MODEL as DEMO_MODEL
from copilot_admin.agent.providers.demo import DemoModel
from copilot_admin.agent.values.spec import ProviderSpec, Timeouts
from copilot_admin.errors import ComponentError
from protocol.components import ContractFinding, ContractRule, is_reserved, static_findings
from protocol.components.contract import outputs_are_json
from protocol.json import JsonObject

COMPONENTS: tuple[type[Component], ...] = (
    Calculator,
    ChartMaker,
    DocumentSearch,
    ReturnsToolkit,
    SimilarQuestion,
    TableAnalyst,
)
LATEST = "latest"


class Registry:
    """Components by name and version. Invalid ones are only in `faults`."""

    def __init__(self, classes: Iterable[type[Component]]) -> None:
        self.faults: list[ContractFinding] = []
        self._versions: dict[str, dict[str, type[Component]]] = {}
        for component in classes:
            name, version = component.name, component.version
            details = []
            if version in self._versions.get(name, {}):
                details.append(f"there are two components {name} {version}.")
            if version == LATEST:
                details.append("the version 'latest' is a name for the newest one.")
            rule = ContractRule.MANIFEST_VALID
            findings = [
                *static_findings(component),
                *(ContractFinding(component, rule, detail) for detail in details),
            ]
            self.faults += findings
            if not findings:
                self._versions.setdefault(name, {})[version] = component

    def names(self) -> tuple[str, ...]:
        """Return the names in alphabetical order."""
        return tuple(sorted(self._versions))

    def versions(self, name: str) -> tuple[str, ...]:
        """Return the versions of a component, oldest first."""
        return tuple(self._versions.get(name, {}))

    def find(self, name: str, version: str = LATEST) -> type[Component] | None:
        """Return a component. The version may lack its "v", or be "latest"."""
        known = self._versions.get(name, {})
        if known and version in ("", LATEST):
            return list(known.values())[-1]
        return known.get(version) or known.get(f"v{version}")

    def all(self) -> Sequence[type[Component]]:
        """Return every version of every component, by name and age."""
        return [one for name in self.names() for one in self._versions[name].values()]


@cache
def registry() -> Registry:
    return Registry(COMPONENTS)


def sample_arguments(sample: Mapping[str, Any]) -> JsonObject:
    return {name: value for name, value in sample.items() if not is_reserved(name)}


async def sample_findings(component: type[Component]) -> tuple[ContractFinding, ...]:
    """Run the samples of a component with the demo model and return violations of the contract."""
    rule = ContractRule.OUTPUT_JSON
    if not component.samples:
        return (ContractFinding(component, rule, "there is no sample to run it with."),)
    found: list[ContractFinding] = []
    provider = DemoModel(ProviderSpec(name=DEMO_MODEL, kind=DemoModel.kind))
    for number, sample in enumerate(component.samples, 1):
        model = ModelClient(provider=provider, model=DEMO_MODEL, timeouts=Timeouts(), parameters={})
        system = {name: value for name, value in sample.items() if is_reserved(name)}
        run = ComponentRun(component, sample_arguments(sample), system={MODEL: model, **system})
        try:
            async with aclosing(run.stream()) as outputs:
                async for _ in outputs:
                    pass
        except ComponentError as error:
            detail = f"its sample {number} gives no whole result: {error.public}"
            found.append(ContractFinding(component, rule, detail))
        else:
            found += outputs_are_json(component, run.outputs)
    return tuple(dict.fromkeys(found))
