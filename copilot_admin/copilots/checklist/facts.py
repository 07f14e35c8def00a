"""Gathers what is known about drafts, for all of them at once: three queries, and the cache."""

from collections.abc import Mapping, Sequence

from copilot_admin.copilots.checklist.subject import DraftFacts
from copilot_admin.copilots.live_settings import keys_of_each
from copilot_admin.copilots.other_providers import find_providers, names_in_draft
from copilot_admin.copilots.publish_gate import read_test_facts
from copilot_admin.copilots.remote_images import is_kept
from copilot_admin.models import Access, Copilot, Provider


def facts_of(copilots: Sequence[Copilot]) -> list[DraftFacts]:
    """What is known about each; their providers should be loaded with them. Asks no network."""
    names = {name for one in copilots for name in names_in_draft(one)}
    others = find_providers(names)
    own = {one.provider.name: one.provider for one in copilots}
    models = _models_of({**others, **own})
    tests = read_test_facts(copilots)
    keys = keys_of_each(one.pk for one in copilots if one.access == Access.KEY)
    return [
        DraftFacts(
            enabled=copilot.enabled,
            access=Access(copilot.access),
            keys=keys.get(copilot.pk, 0),
            models=models,
            unasked=tuple(name for name in _asked_of(copilot, others) if name not in models),
            missing_providers=frozenset(names_in_draft(copilot)) - others.keys(),
            has_image=is_kept(copilot.picture),
            tests=tests.get(copilot.pk),
        )
        for copilot in copilots
    ]


def _asked_of(copilot: Copilot, others: Mapping[str, Provider]) -> tuple[str, ...]:
    named = (name for name in names_in_draft(copilot) if name in others)
    return tuple(dict.fromkeys([copilot.provider.name, *named]))


def _models_of(providers: Mapping[str, Provider]) -> Mapping[str, tuple[str, ...]]:
    return {name: tuple(one.model_ids) for name, one in providers.items() if one.model_ids}
