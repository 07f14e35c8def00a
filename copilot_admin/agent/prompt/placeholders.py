"""Fixed placeholders of a system prompt; there is no template language.

`{{ name }}` is a placeholder. `{{{{` is an escaped `{{`, for prompts that show code with braces.
"""

from collections.abc import Iterable, Sequence
import re
from zoneinfo import ZoneInfo

from copilot_admin.agent.llm.model_choice import option
from copilot_admin.agent.values.answer_request import AnswerRequest
from protocol.features import CustomFeature, CustomFeatureType
from protocol.models import Widget, find_time_zone

# An escaped opening, a placeholder, or an opening without an end.
_BRACES = re.compile(r"\{\{\{\{|\{\{([^{}]*)\}\}|\{\{")
_SINGLE_BRACES = re.compile(r"(?<!\{)\{([^{}]*)\}")
_OPENING = "{{"
_FIXED = frozenset(
    {
        *("copilot.name", "copilot.slug", "today", "now", "timezone", "user.email"),
        *("widgets.primary", "widgets.secondary"),
    }
)
ABSENT = "unknown"
DEFAULT_TIMEZONE = "UTC"


def unknown_placeholders(
    prompt: str, custom_features: Iterable[CustomFeature] = ()
) -> tuple[str, ...]:
    """Return the distinct unknown placeholders; a prompt with any can't be published."""
    known = _known(custom_features)
    return tuple(name for name in dict.fromkeys(_names_in(prompt)) if name not in known)


def used_placeholders(prompt: str) -> frozenset[str]:
    return frozenset(_names_in(prompt))


def find_unclosed(prompt: str) -> str | None:
    """Return the text after the first `{{` without an end, if there is one."""
    found = (one for one in _BRACES.finditer(prompt) if one[0] == _OPENING)
    return next((prompt[one.end() :] for one in found), None)


def in_single_braces(prompt: str, custom_features: Iterable[CustomFeature] = ()) -> tuple[str, ...]:
    """Return the distinct known names in `{...}`, which has no effect."""
    known = _known(custom_features)
    names = (match[1].strip() for match in _SINGLE_BRACES.finditer(prompt))
    return tuple(dict.fromkeys(name for name in names if name in known))


def fill(request: AnswerRequest) -> str:
    """Return the system prompt with its placeholders replaced in one pass.

    A value that the client did not send becomes its default, or "unknown" if it has no default.
    """
    spec, query, prompt = request.spec, request.query, request.spec.system_prompt
    if _OPENING not in prompt:
        return prompt
    zone = find_time_zone(query.timezone or DEFAULT_TIMEZONE) or ZoneInfo(DEFAULT_TIMEZONE)
    local = request.now.astimezone(zone)
    values = {
        "copilot.name": spec.name,
        "copilot.slug": spec.slug,
        "today": local.date().isoformat(),
        "now": local.isoformat(timespec="minutes"),
        "timezone": zone.key,
        "user.email": request.user_email or ABSENT,
        "widgets.primary": _join_names(query.widgets.primary),
        "widgets.secondary": _join_names(query.widgets.secondary),
    }
    for feature in spec.custom_features:
        value = option(feature, query=query)
        text = ("true" if value else "false") if isinstance(value, bool) else value or ABSENT
        state = {option: label for label, option in feature.options}.get(str(value), text)
        if feature.type is CustomFeatureType.TOGGLE:
            state = feature.state_on if value else feature.state_off
        values |= {f"options.{feature.key}": text, f"options.{feature.key}.state": state}

    def replace(match: re.Match[str]) -> str:
        return _OPENING if match[1] is None else values.get(match[1].strip(), ABSENT)

    return _BRACES.sub(replace, prompt)


def _names_in(prompt: str) -> list[str]:
    return [match[1].strip() for match in _BRACES.finditer(prompt) if match[1] is not None]


def _known(custom_features: Iterable[CustomFeature]) -> frozenset[str]:
    own = (f"options.{one.key}{part}" for one in custom_features for part in ("", ".state"))
    return _FIXED.union(own)


def _join_names(widgets: Sequence[Widget]) -> str:
    return ", ".join(widget.name or widget.ref for widget in widgets) or "none"
