"""What a question is asked about besides its words: the same words about another widget are another."""

from collections.abc import Mapping
import json

from protocol.fields import Notes
from protocol.json import Json, JsonObject
from protocol.parsing import parse_options, parse_widgets


def selection_of(env: JsonObject) -> frozenset[str]:
    """The widgets of a request with their arguments, what it was sent along, and its options.

    Args:
        env: The request without its messages.
    """
    notes = Notes()  # of a request that was read before
    widgets = parse_widgets(env.get("widgets"), notes=notes)
    groups = (widgets.primary, widgets.secondary, widgets.extra)
    offered = (
        (place, widget.ref, widget.input_args())
        for place, group in enumerate(groups)
        for widget in group
    )
    chosen = parse_options(env.get("workspace_options"), notes=notes).items()
    return frozenset(map(_written, [*offered, *chosen, *_sent_along(env.get("context"))]))


def _sent_along(context: Json) -> list[Json]:
    """The ids of context: data of widgets in generation 1, artifacts of the chat in later ones."""
    items = context if isinstance(context, list) else [context]
    return [item.get("uuid") for item in items if isinstance(item, Mapping)]


def _written(value: object) -> str:
    return json.dumps(value, sort_keys=True)
