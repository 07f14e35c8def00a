"""All checks before publishing, and the facts that they need."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.spec import ProviderSpec, ToolCalling, spec_from_document
from copilot_admin.copilots.checklist import content_checks, model_checks
from copilot_admin.copilots.checklist.findings import (
    CheckedDraft,
    DraftFacts,
    Finding,
    Findings,
    error,
    rank,
    read_test_facts,
)
from copilot_admin.copilots.images import is_stored
from copilot_admin.copilots.live_settings import keys_of_each
from copilot_admin.copilots.other_providers import find_providers, names_in_draft
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.errors import ConfigurationError, KeyVariableUnset, RunError
from copilot_admin.models import Access, Copilot
from protocol.json import Json, list_of, text_of

Check: TypeAlias = Callable[[CheckedDraft], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    model_checks.check_prompt,
    model_checks.check_models,
    model_checks.check_providers,
    model_checks.check_parameters,
    content_checks.check_widgets_and_files,
    content_checks.check_steps_and_data_messages,
    content_checks.check_tools,
    content_checks.check_unused_settings,
    content_checks.check_custom_options,
    content_checks.check_presentation,
    content_checks.check_access_and_tests,
)


def run_checks(draft: CheckedDraft) -> Findings:
    return Findings(sorted((one for check in CHECKS for one in check(draft)), key=rank))


def check_document(copilot: Copilot, document: Mapping[str, Json], facts: DraftFacts) -> Findings:
    """Return the findings about a document that is to become a version of a copilot."""

    def check(provider: ProviderSpec) -> Findings:
        return run_checks(
            CheckedDraft(
                spec=spec_from_document(copilot.slug, document, provider),
                image=text_of(document.get("image")),
                starters=tuple(map(text_of, list_of(document.get("starters")))),
                facts=facts,
            )
        )

    row = copilot.provider
    try:
        provider = provider_spec(row)
        make_provider(provider)
        return check(provider)
    except (ConfigurationError, RunError) as problem:
        is_here = isinstance(problem, KeyVariableUnset)
        first = error("unusable", "provider", problem.public, only_for_people=is_here)
    calling = ToolCalling(row.tool_calling)
    try:
        others = check(ProviderSpec(name=row.name, kind=row.kind, tool_calling=calling))
    except ConfigurationError:
        others = Findings()
    return Findings((first, *others))


def facts_of(copilots: Sequence[Copilot]) -> list[DraftFacts]:
    """Return the facts about drafts, in a few queries for all; load their providers first."""
    others = find_providers({name for one in copilots for name in names_in_draft(one)})
    providers = {**others, **{one.provider.name: one.provider for one in copilots}}
    models = {name: tuple(one.model_ids) for name, one in providers.items() if one.model_ids}
    tests = read_test_facts(copilots)
    keys = keys_of_each(one.pk for one in copilots if one.access == Access.KEY)
    found = []
    for copilot in copilots:
        named = names_in_draft(copilot)
        asked = dict.fromkeys([copilot.provider.name, *filter(others.get, named)])
        found.append(
            DraftFacts(
                enabled=copilot.enabled,
                access=Access(copilot.access),
                keys=keys.get(copilot.pk, 0),
                models=models,
                unasked=tuple(name for name in asked if name not in models),
                missing_providers=frozenset(named) - others.keys(),
                has_image=is_stored(copilot.picture),
                tests=tests.get(copilot.pk),
            )
        )
    return found
