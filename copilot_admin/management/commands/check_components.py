"""`manage.py check_components`: whether components keep their contract, samples included."""

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import CommandError

from copilot_admin.agent.component_runs.samples import sample_findings
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.registry import Registry, registry
from copilot_admin.errors import ConfigurationError
from copilot_admin.management.base import SanitizedCommand
from protocol.components import ContractFinding, ContractRule


class Command(SanitizedCommand):
    """Check all rules of every component; the last one by running every sample."""

    help = "Checks every component against the six rules of the contract, and runs its samples."
    requires_system_checks = ()  # this command says the same, and more

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare which components to check."""
        parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")

    def handle(self, *, names: list[str], **options: Any) -> None:
        """Write one line for each component and rule; fails when there is a finding."""
        try:
            known = registry()
        except ConfigurationError as error:
            raise CommandError(error.public) from error
        count = 0
        for component, faults in _wanted(known, names):
            findings = faults or async_to_sync(sample_findings)(component)
            count += len(findings)
            for line in _lines(component, findings, was_run=not faults):
                self.stdout.write(line)
        if count:
            raise CommandError(f"The contract is broken in {count} places.")


def _wanted(
    known: Registry, names: list[str]
) -> Iterator[tuple[type[Component], tuple[ContractFinding, ...]]]:
    """The components, each with what is wrong with it before it runs."""
    faulty: dict[type[Component], list[ContractFinding]] = {}
    for fault in known.faults:
        faulty.setdefault(fault.component, []).append(fault.finding)
    every = [(component, ()) for component in known.all()] + [
        (component, tuple(findings)) for component, findings in faulty.items()
    ]
    unknown = set(names) - {component.name for component, _ in every}
    if unknown:
        raise CommandError(f"There is no component '{min(unknown)}'.")
    return (one for one in every if not names or one[0].name in names)


def _lines(
    component: type[Component], findings: Iterable[ContractFinding], *, was_run: bool
) -> Iterator[str]:
    found = list(findings)
    for rule in ContractRule:
        head = f"{component.name} {component.version} {rule}:"
        details = [finding.detail for finding in found if finding.rule is rule]
        for detail in details:
            yield f"{head} {detail}"
        if not details:
            waits = rule is ContractRule.OUTPUT_JSON and not was_run
            yield f"{head} {'not run before the others are mended' if waits else 'kept'}"
