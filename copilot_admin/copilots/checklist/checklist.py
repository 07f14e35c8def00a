"""All checks before publishing, and the facts that they need."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.document import spec_from_document
from copilot_admin.agent.values.spec import ProviderSpec, ToolCalling
from copilot_admin.copilots.checklist import content_checks, model_checks
from copilot_admin.copilots.checklist.findings import DraftContent, DraftFacts, Finding, error
from copilot_admin.copilots.images import is_kept
from copilot_admin.copilots.live_settings import keys_of_each
from copilot_admin.copilots.other_providers import find_providers, names_in_draft
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.copilots.publish_gate import read_test_facts
from copilot_admin.errors import ConfigurationError, KeyVariableUnset, RunError
from copilot_admin.models import Access, Copilot
from protocol.json import Json, list_of, text_of

Check: TypeAlias = Callable[[DraftContent, DraftFacts], Iterator[Finding]]

# The name of a check is the code of its findings.
CHECKS: tuple[Check, ...] = (
    model_checks.unknown_placeholder,
    model_checks.unclosed_placeholder,
    model_checks.single_braces,
    model_checks.empty_prompt,
    model_checks.prompt_too_long,
    model_checks.missing_model,
    model_checks.unlisted_model,
    model_checks.other_kind_of_model,
    model_checks.picker_without_default,
    model_checks.missing_api_key,
    model_checks.missing_provider,
    model_checks.parameter_out_of_range,
    model_checks.temperature_and_top_p,
    model_checks.unsupported_temperature,
    content_checks.unread_widgets,
    content_checks.missing_widget_feature,
    content_checks.missing_documents,
    content_checks.hidden_steps,
    content_checks.empty_data_messages,
    content_checks.unknown_tool,
    content_checks.unsupported_tools,
    content_checks.unused_settings,
    content_checks.unused_option,
    content_checks.confusing_option,
    content_checks.missing_image,
    content_checks.description_length,
    content_checks.starter_questions,
    content_checks.unreachable,
    content_checks.failed_tests,
)
FAILED_TESTS = content_checks.failed_tests.__name__


def run_checks(content: DraftContent, facts: DraftFacts) -> tuple[Finding, ...]:
    """Return the findings of all checks, errors first, in the order of the form."""
    found = (
        replace(finding, code=check.__name__)
        for check in CHECKS
        for finding in check(content, facts)
    )
    return tuple(sorted(found, key=lambda finding: finding.rank))


def check_document(
    copilot: Copilot, document: Mapping[str, Json], facts: DraftFacts
) -> tuple[Finding, ...]:
    """Return the findings about a document that is to become a version of a copilot."""
    try:
        provider = provider_spec(copilot.provider)
        content = _read(copilot.slug, document, provider)
        make_provider(provider)
    except (ConfigurationError, RunError) as problem:
        is_here = isinstance(problem, KeyVariableUnset)
        first = error("provider", problem.public, only_for_people=is_here)
        return (first, *_check_without_provider(copilot, document, facts))
    return run_checks(content, facts)


def _check_without_provider(
    copilot: Copilot, document: Mapping[str, Json], facts: DraftFacts
) -> tuple[Finding, ...]:
    row = copilot.provider
    bare = ProviderSpec(name=row.name, kind=row.kind, tool_calling=ToolCalling(row.tool_calling))
    try:
        return run_checks(_read(copilot.slug, document, bare), facts)
    except ConfigurationError:
        return ()


def _read(slug: str, document: Mapping[str, Json], provider: ProviderSpec) -> DraftContent:
    return DraftContent(
        spec=spec_from_document(slug, document, provider),
        image=text_of(document.get("image")),
        starters=tuple(map(text_of, list_of(document.get("starters")))),
    )


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
                has_image=is_kept(copilot.picture),
                tests=tests.get(copilot.pk),
            )
        )
    return found
