"""The values that a user gave the controls of a copilot."""

from collections.abc import Iterator

from copilot_admin.agent.values.spec import CopilotSpec
from protocol.features import CustomFeature, CustomFeatureType
from protocol.query import Query

_LONGEST = 100  # characters of a value in a note


def option(feature: CustomFeature, *, query: Query) -> bool | str:
    """The value of a custom feature in a query.

    A client that sends its options leaves out the toggles that are off, so there an absent toggle
    is off; a client that sends none at all leaves every feature at its default, and so does a
    value that the control cannot have.
    """
    sent = query.workspace_options.get(feature.key)
    if sent is not None:
        return sent if _fits(sent, feature) else feature.default
    if feature.type is CustomFeatureType.TOGGLE and query.env.get("workspace_options") is not None:
        return False
    return feature.default


def option_notes(spec: CopilotSpec, query: Query) -> Iterator[str]:
    """A sentence for each value that its control cannot have, for the run."""
    for feature in spec.custom_features:
        sent = query.workspace_options.get(feature.key)
        if sent is not None and not _fits(sent, feature):
            yield (
                f"The client sent {str(sent)[:_LONGEST]!r} for the option {feature.key!r}, which is "
                f"no value of this {feature.type.value}; its default {feature.default!r} is used."
            )


def _fits(value: bool | str, feature: CustomFeature) -> bool:
    if feature.type is CustomFeatureType.TOGGLE:
        return isinstance(value, bool)
    if feature.type is CustomFeatureType.SELECT:
        return value in [option for _, option in feature.options]
    return isinstance(value, str)
