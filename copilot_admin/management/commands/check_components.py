"""`manage.py check_components`: check components against their contract, samples included."""

from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import CommandError

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.registry import registry, sample_findings
from copilot_admin.management.base import SanitizedCommand
from protocol.components import ContractFinding, ContractRule


class Command(SanitizedCommand):
    help = "Check components against the rules of the contract, and run their samples."
    requires_system_checks = ()  # they check the same

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")

    def handle(self, *, names: list[str], **options: Any) -> None:
        known = registry()
        faults: defaultdict[type[Component], list[ContractFinding]] = defaultdict(list)
        for finding in known.faults:
            faults[finding.component].append(finding)
        components = [*known.all(), *faults]
        unknown = set(names).difference(component.name for component in components)
        if unknown:
            raise CommandError(f"There is no component '{min(unknown)}'.")
        count = 0
        for component in components:
            if names and component.name not in names:
                continue
            findings = faults.get(component) or async_to_sync(sample_findings)(component)
            count += len(findings)
            self._write_findings(component, findings, is_sampled=component not in faults)
        if count:
            raise CommandError(f"The contract is broken in {count} places.")

    def _write_findings(
        self, component: type[Component], findings: Sequence[ContractFinding], *, is_sampled: bool
    ) -> None:
        for rule in ContractRule:
            is_skipped = rule is ContractRule.OUTPUT_JSON and not is_sampled
            details = [finding.detail for finding in findings if finding.rule is rule]
            state = "skipped until the others are fixed" if is_skipped else "kept"
            for detail in details or [state]:
                self.stdout.write(f"{component.name} {component.version} {rule}: {detail}")
