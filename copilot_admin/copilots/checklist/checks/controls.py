"""What can be wrong with the controls of a builder's own."""

from collections import Counter
from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from copilot_admin.agent.prompt.placeholders import used_placeholders
from copilot_admin.agent.values.spec import Fallback
from copilot_admin.copilots.checklist.check import Check
from copilot_admin.copilots.checklist.finding import Finding, error, warning
from copilot_admin.copilots.checklist.subject import DraftContent, DraftFacts
from protocol.features import FEATURES, CustomFeature, CustomFeatureType


@Check
def missing_provider(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """A control lets a provider answer that there is not."""
    fields: dict[str, Sequence[CustomFeature | Fallback]] = {
        "custom_features": content.spec.custom_features,
        "fallbacks": content.spec.fallbacks,
    }
    for field, rows in fields.items():
        for name in dict.fromkeys(row.provider for row in rows):
            if name in facts.missing_providers:
                sentence = _("There is no provider named '%(name)s'. Choose another.")
                yield error(field, sentence % {"name": name})


@Check
def taken_key(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Two controls, or a control and a switch of Workspace, under one key."""
    taken = {"streaming", *(feature.key for feature in FEATURES)}
    for feature in content.spec.custom_features:
        if feature.key in taken:
            sentence = _("The key '%(key)s' is already used. Choose another.")
            yield error("custom_features", sentence % {"key": feature.key})
        taken.add(feature.key)


@Check
def without_effect(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """People set it, and nothing depends on it."""
    spec = content.spec
    if spec.data_messages.options:
        return  # the model sees the options as a data note
    used = used_placeholders(spec.system_prompt)
    for feature in spec.custom_features:
        name = f"options.{feature.key}"
        if not feature.model and used.isdisjoint({name, f"{name}.state"}):
            sentence = _(
                "Nothing uses the control “%(label)s”. Add {{ %(name)s }} to the prompt, or remove "
                "the control."
            )
            yield warning("custom_features", sentence % {"label": feature.label, "name": name})


@Check
def nothing_to_choose(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """A select with one option: there is nothing to choose."""
    for feature in content.spec.custom_features:
        if feature.type is CustomFeatureType.SELECT and len(feature.options) == 1:
            sentence = _("The control “%(label)s” has only one option. Add another.")
            yield warning("custom_features", sentence % {"label": feature.label})


@Check
def same_label(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Controls that people cannot tell apart."""
    labels = Counter(one.label.strip().lower() for one in content.spec.custom_features)
    first = {one.label.strip().lower(): one.label for one in content.spec.custom_features}
    for same, count in labels.items():
        if count > 1:
            sentence = _("%(count)d controls are named “%(label)s”. Rename them.")
            words = {"count": count, "label": first[same]}
            yield warning("custom_features", sentence % words)
