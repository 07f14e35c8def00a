"""Runs the samples of a component for real: the part of the contract that needs a run."""

from collections.abc import Iterator, Mapping
from contextlib import aclosing
from typing import Any

from copilot_admin.agent.component_runs.run import ComponentRun
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import MODEL, ModelDoor
from copilot_admin.agent.llm.retries import Pace
from copilot_admin.agent.providers.rehearsal import MODEL as REHEARSAL
from copilot_admin.agent.providers.rehearsal import Rehearsal
from copilot_admin.agent.values.spec import ProviderSpec, Timeouts
from copilot_admin.errors import ComponentError
from protocol.components import ContractFinding, ContractRule, is_reserved
from protocol.components.contract import outputs_are_json
from protocol.json import JsonObject


async def sample_findings(component: type[Component]) -> tuple[ContractFinding, ...]:
    """What is wrong with what a component gives of its samples; empty when nothing is."""
    if not component.samples:
        return (ContractFinding(ContractRule.OUTPUT_JSON, "there is no sample to run it with."),)
    found: list[ContractFinding] = []
    for number, sample in enumerate(component.samples, 1):
        found += await _findings_of(component, sample, number)
    return tuple(dict.fromkeys(found))


def sample_arguments(sample: Mapping[str, Any]) -> JsonObject:
    """What a caller fills in of a sample."""
    return {name: value for name, value in sample.items() if not is_reserved(name)}


async def _findings_of(
    component: type[Component], sample: Mapping[str, Any], number: int
) -> Iterator[ContractFinding]:
    system = {name: value for name, value in sample.items() if is_reserved(name)}
    run = ComponentRun(
        component, sample_arguments(sample), system={MODEL: rehearsal_door(), **system}
    )
    try:
        async with aclosing(run.stream()) as outputs:
            async for _ in outputs:
                pass
    except ComponentError as error:
        detail = f"its sample {number} gives no whole result: {error.public}"
        return iter((ContractFinding(ContractRule.OUTPUT_JSON, detail),))
    return outputs_are_json(component, run.outputs)


def rehearsal_door() -> ModelDoor:
    """The built-in model, which needs no network, for a component that asks one."""
    spec = ProviderSpec(name=REHEARSAL, kind=Rehearsal.kind)
    return ModelDoor(
        Rehearsal(spec), model=REHEARSAL, timeouts=Timeouts(), parameters={}, pace=Pace()
    )
