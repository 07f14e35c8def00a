"""Checks of the prompt, the models and their parameters."""

from collections.abc import Iterator, Mapping
from math import inf
from typing import cast
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from copilot_admin.agent.prompt.placeholders import (
    find_unclosed,
    in_single_braces,
    unknown_placeholders,
)
from copilot_admin.agent.values.model_call import estimated_tokens
from copilot_admin.agent.values.spec import Fallback
from copilot_admin.copilots.checklist.findings import (
    DraftContent,
    DraftFacts,
    Finding,
    error,
    warning,
)
from copilot_admin.copilots.checklist.known_models import (
    is_no_chat,
    models_of,
    takes_no_temperature,
    window_of,
)
from protocol.data import render
from protocol.features import CustomFeature
from protocol.json import Json

# Hosts that require a key; other servers may authenticate in other ways.
_HOSTS_WITH_KEY = (
    "api.openai.com",
    "api.anthropic.com",
    "api.mistral.ai",
    "api.groq.com",
    "api.deepseek.com",
    "api.together.xyz",
    "api.x.ai",
    "generativelanguage.googleapis.com",
    "openrouter.ai",
)
# Ranges of OpenAI's chat completions; a parameter without a maximum is a whole number.
_RANGES: Mapping[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "max_tokens": (1, inf),
    "max_completion_tokens": (1, inf),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
}
_WITH_AN_INPUT = frozenset({"temperature", "top_p", "max_tokens"})


def unknown_placeholder(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report names in double braces that mean nothing."""
    spec = content.spec
    for name in unknown_placeholders(spec.system_prompt, spec.custom_features):
        sentence = _("The prompt has the unknown placeholder {{ %(name)s }}.")
        yield error("system_prompt", sentence % {"name": shorten(name)})


def unclosed_placeholder(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report a placeholder without an end, which the model would see as it is."""
    if (name := find_unclosed(content.spec.system_prompt)) is not None:
        words = name.partition("{{")[0].split()
        sentence = _("A placeholder in the prompt is not closed. Add }} after “{{ %(name)s”.")
        shown = shorten(words[0].rstrip(".,;:!?)}")) if words else "…"
        yield error("system_prompt", sentence % {"name": shown}, only_for_people=True)


def single_braces(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report known names in single braces, which are plain text."""
    spec = content.spec
    for name in in_single_braces(spec.system_prompt, spec.custom_features):
        sentence = _(
            "The prompt has {%(name)s} in single braces, which isn't replaced. Write "
            "{{ %(name)s }}."
        )
        yield warning("system_prompt", sentence % {"name": name})


def empty_prompt(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report that there are no instructions."""
    if not content.spec.system_prompt.strip():
        yield warning("system_prompt", _("The prompt is empty. Add instructions."))


def prompt_too_long(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report models whose context window is too small for prompt and context data."""
    spec = content.spec
    characters = len(spec.system_prompt) + sum(len(render(note)) for note in spec.data)
    tokens = estimated_tokens(characters)
    for model in models_of(spec):
        window = window_of(model)
        if window and tokens > window:
            sentence = _(
                "Prompt and context data have about %(tokens)s tokens. The model “%(model)s” "
                "supports %(window)s, including question and answer."
            )
            words = {"tokens": f"{tokens:,}", "window": f"{window:,}", "model": model}
            yield warning("system_prompt", sentence % words)


def missing_model(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report that no model is chosen."""
    if not content.spec.model.strip():
        yield error("model", _("Choose a model."))


def unlisted_model(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report models that their provider didn't list; some list fewer than they have."""
    spec, own = content.spec, content.spec.provider.name
    named = [
        ("model", own, spec.model),
        *(("models", own, id) for id, _name in spec.models),
        *(("custom_features", one.provider or own, one.model) for one in spec.custom_features),
        *(("fallbacks", one.provider or own, one.model) for one in spec.fallbacks),
    ]
    for field, provider, model in dict.fromkeys(named):
        listed = facts.models.get(provider)
        if model.strip() and listed and model not in listed:
            sentence = _(
                "The provider “%(provider)s” doesn't list the model “%(model)s”. Check the "
                "spelling."
            )
            yield warning(field, sentence % {"provider": provider, "model": model})


def other_kind_of_model(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report models that don't chat."""
    for model in filter(is_no_chat, models_of(content.spec)):
        field = "model" if model == content.spec.model else "models"
        sentence = _("The model “%(model)s” isn't a chat model. Choose another.")
        yield warning(field, sentence % {"model": model})


def picker_without_default(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report a model picker that lacks the default model."""
    spec = content.spec
    if spec.models and spec.model not in {id for id, _name in spec.models}:
        sentence = _("The model picker doesn't include the default model “%(model)s”. Add it.")
        yield warning("models", sentence % {"model": spec.model})


def missing_api_key(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report a provider without a key whose server requires one."""
    provider = content.spec.provider
    try:
        host = urlsplit(provider.base_url.strip()).hostname
    except ValueError:
        return  # the form of the provider reports an invalid URL
    if host in _HOSTS_WITH_KEY and not provider.api_key:
        sentence = _("The provider “%(name)s” has no API key, but %(host)s requires one.")
        yield warning("provider", sentence % {"name": provider.name, "host": host})


def missing_provider(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report options and fallbacks that name a provider that doesn't exist."""
    rows: list[tuple[str, CustomFeature | Fallback]] = [
        *(("custom_features", row) for row in content.spec.custom_features),
        *(("fallbacks", row) for row in content.spec.fallbacks),
    ]
    for field, name in dict.fromkeys((field, row.provider) for field, row in rows):
        if name in facts.missing_providers:
            sentence = _("There is no provider named '%(name)s'. Choose another.")
            yield error(field, sentence % {"name": name})


def parameter_out_of_range(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report numbers that providers reject, and every question with them."""
    for name, (low, high) in _RANGES.items():
        value = content.spec.parameters.get(name)
        if value is None or _is_in_range(value, low, high):
            continue
        right = _("a number from %(low)g to %(high)g") if high < inf else _("a whole number")
        sentence = _("The parameter '%(name)s' must be %(right)s, not %(value)s.") % {
            "name": name,
            "right": right % {"low": low, "high": high},
            "value": str(value)[:20],
        }
        at = name if name in _WITH_AN_INPUT else ""
        yield error("parameters", sentence, at=at, only_for_people=True)


def _is_in_range(value: Json, low: float, high: float) -> bool:
    kinds = (int, float) if high < inf else (int,)
    return type(value) in kinds and low <= cast("float", value) <= high


def temperature_and_top_p(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report that both are set: some models reject that."""
    parameters = content.spec.parameters
    if parameters.get("temperature") is not None and parameters.get("top_p") is not None:
        sentence = _("Temperature and top p are both set. Set one: some models refuse both.")
        yield warning("parameters", sentence, at="top_p")


def unsupported_temperature(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Report a temperature for reasoning models, which reject it."""
    if "temperature" not in content.spec.parameters:
        return
    for model in filter(takes_no_temperature, models_of(content.spec)):
        sentence = _("The model “%(model)s” doesn't support a temperature. Clear it.")
        yield warning("parameters", sentence % {"model": model}, at="temperature")


def shorten(text: str) -> str:
    """Return a text in one line of at most 60 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
