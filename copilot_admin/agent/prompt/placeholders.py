"""Fills the fixed placeholders of a system prompt; there is no template language.

Between backticks a name that means nothing is no placeholder: prompts show code, and code has braces.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
import sys
from zoneinfo import ZoneInfo

from copilot_admin.agent.llm.model_choice import option
from copilot_admin.agent.prompt.code_spans import code_spans
from copilot_admin.agent.values.spec import CopilotSpec
from protocol.features import CustomFeature, CustomFeatureType
from protocol.models import Query, Widget, find_time_zone

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
_NO_SPAN = (sys.maxsize, sys.maxsize)  # of code, behind the last one
ABSENT = "unknown"
DEFAULT_TIMEZONE = "UTC"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text, and the `{{ ... }}` behind it.

    Attributes:
        name: What stands between the braces; None behind the last text.
        written: All of it, braces included; behind the last text an opening without an end.
        is_code: Whether it stands between backticks.
    """

    text: str
    name: str | None
    written: str
    is_code: bool = False


def unknown_placeholders(
    prompt: str, custom_features: Iterable[CustomFeature] = ()
) -> tuple[str, ...]:
    """The names in `{{ ... }}` that mean nothing, each once; a prompt with any is not published."""
    known = _known(custom_features)
    pieces = (one for one in _pieces(prompt) if not one.is_code)
    found = dict.fromkeys(one.name for one in pieces if one.name is not None)
    return tuple(name for name in found if name not in known)


def used_placeholders(prompt: str) -> frozenset[str]:
    """The names in `{{ ... }}`, whether they mean anything or not."""
    return frozenset(one.name for one in _pieces(prompt) if one.name is not None)


def ends_open(prompt: str) -> str | None:
    """What stands behind a last `{{` without `}}`; None where every one is closed."""
    *_, last = _pieces(prompt)
    return last.written.removeprefix(_OPENING) if last.written else None


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
    if _OPENING not in prompt:
        return prompt
    zone = find_time_zone(query.timezone or DEFAULT_TIMEZONE) or ZoneInfo(DEFAULT_TIMEZONE)
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
    return "".join(one.text + _filled(one, values) for one in _pieces(prompt))


def _known(custom_features: Iterable[CustomFeature]) -> frozenset[str]:
    own = (
        name
        for feature in custom_features
        for name in (f"options.{feature.key}", f"options.{feature.key}.state")
    )
    return _FIXED.union(own)


def _filled(piece: _Piece, values: Mapping[str, str]) -> str:
    if piece.name is None:
        return piece.written
    return values.get(piece.name, piece.written if piece.is_code else ABSENT)


def _pieces(prompt: str) -> Iterator[_Piece]:
    """Each text with the `{{ ... }}` behind it; behind the last text stands none that ends.

    Every mark is looked for from where the one before was found, so costs grow in a straight line
    with the prompt.
    """
    spans = iter(code_spans(prompt) if _OPENING in prompt else ())
    code_start, code_end = next(spans, _NO_SPAN)
    start = searched = 0
    while (opening := prompt.find(_OPENING, searched)) >= 0:
        while code_end <= opening:
            code_start, code_end = next(spans, _NO_SPAN)
        is_code = code_start <= opening
        closing = prompt.find(_CLOSING, opening + len(_OPENING), code_end if is_code else None)
        if closing < 0 and is_code:
            searched = code_end  # no placeholder: code with braces that nothing closes
            continue
        if closing < 0:
            break
        end = closing + len(_CLOSING)
        name = prompt[opening + len(_OPENING) : closing].strip()
        yield _Piece(prompt[start:opening], name, prompt[opening:end], is_code)
        start = searched = end
    last = opening if opening >= 0 else len(prompt)
    yield _Piece(prompt[start:last], None, prompt[last:])


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
