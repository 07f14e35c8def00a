"""Reads a draft for the checks; what cannot be read, or cannot work, is the first finding."""

from collections.abc import Mapping

from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.document import spec_from_document
from copilot_admin.agent.values.spec import ProviderSpec, ToolCalling
from copilot_admin.copilots.checklist.check import findings_in
from copilot_admin.copilots.checklist.finding import Finding, error
from copilot_admin.copilots.checklist.subject import DraftContent, DraftFacts
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.errors import ConfigurationError, KeyVariableUnset, RunError
from copilot_admin.models import Copilot
from protocol.json import Json, list_of, text_of


def checked(
    copilot: Copilot, document: Mapping[str, Json], facts: DraftFacts
) -> tuple[Finding, ...]:
    """What there is to say of a document that is to become a version of a copilot.

    Args:
        copilot: Says slug and provider.
        document: The versioned part of its entry in a copilot file.
        facts: What is known besides.
    """
    try:
        provider = provider_spec(copilot.provider)
        content = _read(copilot.slug, document, provider)
        make_provider(provider)
    except (ConfigurationError, RunError) as problem:
        is_here = isinstance(problem, KeyVariableUnset)
        first = error("provider", problem.public, only_for_people=is_here)
        return (first, *_without_provider(copilot, document, facts))
    return findings_in(content, facts)


def _without_provider(
    copilot: Copilot, document: Mapping[str, Json], facts: DraftFacts
) -> tuple[Finding, ...]:
    row = copilot.provider
    bare = ProviderSpec(name=row.name, kind=row.kind, tool_calling=ToolCalling(row.tool_calling))
    try:
        return findings_in(_read(copilot.slug, document, bare), facts)
    except ConfigurationError:
        return ()


def _read(slug: str, document: Mapping[str, Json], provider: ProviderSpec) -> DraftContent:
    return DraftContent(
        spec=spec_from_document(slug, document, provider),
        image=text_of(document.get("image")),
        starters=tuple(map(text_of, list_of(document.get("starters")))),
    )
