"""Fills the fixed placeholders of a system prompt; there is no template language."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from copilot_admin.engine.llm.options import option
from copilot_admin.engine.values.spec import CopilotSpec
from protocol.features import CustomFeature, CustomFeatureType
from protocol.query import Query
from protocol.widgets import Widget

_OPENING, _CLOSING = "{{", "}}"
_FIXED = frozenset(
    {
        "copilot.name",
        "copilot.slug",
        "today",
        "now",
        "timezone",
        "user.email",
        "widgets.primary",
        "widgets.secondary",
    }
)
ABSENT = "unknown"
DEFAULT_TIMEZONE = "UTC"


def unknown_placeholders(
    prompt: str, custom_features: Iterable[CustomFeature] = ()
) -> tuple[str, ...]:
    """The names in `{{ ... }}` that mean nothing, each once; a prompt with any is not published."""
    known = _known(custom_features)
    found = dict.fromkeys(name for _, name in _pieces(prompt) if name is not None)
    return tuple(name for name in found if name not in known)


def used_placeholders(prompt: str) -> frozenset[str]:
    """The names in `{{ ... }}`, whether they mean anything or not."""
    return frozenset(name for _, name in _pieces(prompt) if name is not None)


def ends_open(prompt: str) -> str | None:
    """What stands behind a last `{{` without `}}`; None where every one is closed."""
    *_, (rest, _name) = _pieces(prompt)
    _before, opening, name = rest.partition(_OPENING)
    return name if opening else None


def in_single_braces(prompt: str, custom_features: Iterable[CustomFeature] = ()) -> tuple[str, ...]:
    """The known names that stand in `{...}`, where they mean nothing, each once."""
    known = _known(custom_features)
    pieces = prompt.split("{")
    closed = (
        piece.partition("}")[0].strip()
        for place, piece in enumerate(pieces[1:])
        # An empty piece stands between the braces of `{{`, but for the one before the first brace.
        if (not place or pieces[place]) and "}" in piece
    )
    return tuple(dict.fromkeys(name for name in closed if name in known))


def fill(
    prompt: str, *, spec: CopilotSpec, query: Query, now: datetime, user_email: str | None = None
) -> str:
    """Replaces every placeholder in one pass; the values themselves are never scanned.

    What the client did not send becomes its default, and without one the word "unknown".
    """
    zone = _zone(query.timezone or DEFAULT_TIMEZONE)
    local = now.astimezone(zone)
    values = {
        "copilot.name": spec.name,
        "copilot.slug": spec.slug,
        "today": local.date().isoformat(),
        "now": local.isoformat(timespec="minutes"),
        "timezone": zone.key,
        "user.email": user_email or ABSENT,
        "widgets.primary": _names(query.widgets.primary),
        "widgets.secondary": _names(query.widgets.secondary),
    }
    for feature in spec.custom_features:
        value = option(feature, query=query)
        values[f"options.{feature.key}"] = _text(value)
        values[f"options.{feature.key}.state"] = _state(feature, value)
    return "".join(
        text if name is None else text + values.get(name, ABSENT) for text, name in _pieces(prompt)
    )


def _known(custom_features: Iterable[CustomFeature]) -> frozenset[str]:
    own = (
        name
        for feature in custom_features
        for name in (f"options.{feature.key}", f"options.{feature.key}.state")
    )
    return _FIXED.union(own)


def _pieces(prompt: str) -> Iterator[tuple[str, str | None]]:
    """Each text with the name in the `{{ ... }}` behind it; behind the last text stands none.

    Two marks are looked for, each from where the other was found, so costs grow in a straight line
    with the prompt.
    """
    start = 0
    while (opening := prompt.find(_OPENING, start)) >= 0:
        closing = prompt.find(_CLOSING, opening + len(_OPENING))
        if closing < 0:
            break
        yield prompt[start:opening], prompt[opening + len(_OPENING) : closing].strip()
        start = closing + len(_CLOSING)
    yield prompt[start:], None


def _text(value: bool | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value or ABSENT


def _state(feature: CustomFeature, value: bool | str) -> str:
    if feature.type is CustomFeatureType.TOGGLE:
        return feature.state_on if value else feature.state_off
    labels = {option: label for label, option in feature.options}
    return labels.get(str(value), _text(value))


def _names(widgets: Sequence[Widget]) -> str:
    return ", ".join(widget.name or widget.ref for widget in widgets) or "none"


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # unknown, or no name of a time zone at all
        return ZoneInfo(DEFAULT_TIMEZONE)
