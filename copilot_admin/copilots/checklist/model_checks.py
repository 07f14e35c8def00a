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
from copilot_admin.copilots.checklist.findings import CheckedDraft, Finding, error, warning
from copilot_admin.copilots.checklist.known_models import (
    is_no_chat,
    models_of,
    takes_no_temperature,
    window_of,
)
from protocol.data import render
from protocol.json import Json

# Hosts that require a key; other servers may authenticate in other ways.
_HOSTS_WITH_KEY = (
    *("api.openai.com", "api.anthropic.com", "api.mistral.ai", "api.groq.com", "api.deepseek.com"),
    *("api.together.xyz", "api.x.ai", "generativelanguage.googleapis.com", "openrouter.ai"),
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


def check_prompt(draft: CheckedDraft) -> Iterator[Finding]:
    """Report an empty prompt, placeholders that aren't replaced, and too long a prompt."""
    spec, prompt = draft.spec, draft.spec.system_prompt
    if not prompt.strip():
        sentence = _("The prompt is empty. Add instructions.")
        yield warning("empty_prompt", "system_prompt", sentence)
    for name in unknown_placeholders(prompt, spec.custom_features):
        sentence = _("The prompt has the unknown placeholder {{ %(name)s }}.")
        yield error("unknown_placeholder", "system_prompt", sentence % {"name": shorten(name)})
    if (unclosed := find_unclosed(prompt)) is not None:
        words = unclosed.partition("{{")[0].split()
        shown = shorten(words[0].rstrip(".,;:!?)}")) if words else "…"
        sentence = _("A placeholder in the prompt is not closed. Add }} after “{{ %(name)s”.")
        text = sentence % {"name": shown}
        yield error("unclosed_placeholder", "system_prompt", text, only_for_people=True)
    for name in in_single_braces(prompt, spec.custom_features):
        sentence = _(
            "The prompt has {%(name)s} in single braces, which isn't replaced. Write "
            "{{ %(name)s }}."
        )
        yield warning("single_braces", "system_prompt", sentence % {"name": name})
    tokens = estimated_tokens(len(prompt) + sum(len(render(note)) for note in spec.data))
    for model in models_of(spec):
        window = window_of(model)
        if window and tokens > window:
            sentence = _(
                "Prompt and context data have about %(tokens)s tokens. The model “%(model)s” "
                "supports %(window)s, including question and answer."
            )
            sizes = {"tokens": f"{tokens:,}", "window": f"{window:,}", "model": model}
            yield warning("prompt_too_long", "system_prompt", sentence % sizes)


def check_models(draft: CheckedDraft) -> Iterator[Finding]:
    """Report models that are missing, unknown to their provider, or don't chat."""
    spec, own = draft.spec, draft.spec.provider.name
    if not spec.model.strip():
        yield error("missing_model", "model", _("Choose a model."))
    named = [
        ("model", own, spec.model),
        *(("models", own, id) for id, _name in spec.models),
        *(("custom_features", one.provider or own, one.model) for one in spec.custom_features),
        *(("fallbacks", one.provider or own, one.model) for one in spec.fallbacks),
    ]
    for field, provider, model in dict.fromkeys(named):
        listed = draft.facts.models.get(provider)  # some list fewer than they have
        if model.strip() and listed and model not in listed:
            sentence = _(
                "The provider “%(provider)s” doesn't list the model “%(model)s”. Check the "
                "spelling."
            )
            yield warning(
                "unlisted_model", field, sentence % {"provider": provider, "model": model}
            )
    for model in filter(is_no_chat, models_of(spec)):
        field = "model" if model == spec.model else "models"
        sentence = _("The model “%(model)s” isn't a chat model. Choose another.")
        yield warning("other_kind_of_model", field, sentence % {"model": model})
    if spec.models and spec.model not in {id for id, _name in spec.models}:
        sentence = _("The model picker doesn't include the default model “%(model)s”. Add it.")
        yield warning("picker_without_default", "models", sentence % {"model": spec.model})


def check_providers(draft: CheckedDraft) -> Iterator[Finding]:
    """Report a missing API key, and providers of options and fallbacks that don't exist."""
    spec, provider = draft.spec, draft.spec.provider
    try:
        host = urlsplit(provider.base_url.strip()).hostname
    except ValueError:
        host = None  # the form of the provider reports an invalid URL
    if host in _HOSTS_WITH_KEY and not provider.api_key:
        sentence = _("The provider “%(name)s” has no API key, but %(host)s requires one.")
        yield warning(
            "missing_api_key", "provider", sentence % {"name": provider.name, "host": host}
        )
    named = [("custom_features", one.provider) for one in spec.custom_features]
    named += [("fallbacks", one.provider) for one in spec.fallbacks]
    for field, name in dict.fromkeys(named):
        if name in draft.facts.missing_providers:
            sentence = _("There is no provider named '%(name)s'. Choose another.")
            yield error("missing_provider", field, sentence % {"name": name})


def check_parameters(draft: CheckedDraft) -> Iterator[Finding]:
    """Report numbers and combinations that providers reject, and every question with them."""
    parameters = draft.spec.parameters
    for name, (low, high) in _RANGES.items():
        value = parameters.get(name)
        if value is None or _is_in_range(value, low, high):
            continue
        right = _("a number from %(low)g to %(high)g") if high < inf else _("a whole number")
        sentence = _("The parameter '%(name)s' must be %(right)s, not %(value)s.") % {
            "name": name,
            "right": right % {"low": low, "high": high},
            "value": str(value)[:20],
        }
        at = name if name in _WITH_AN_INPUT else ""
        options = {"at": at, "only_for_people": True}
        yield error("parameter_out_of_range", "parameters", sentence, **options)
    if parameters.get("temperature") is not None and parameters.get("top_p") is not None:
        sentence = _("Temperature and top p are both set. Set one: some models refuse both.")
        yield warning("temperature_and_top_p", "parameters", sentence, at="top_p")
    if "temperature" in parameters:
        for model in filter(takes_no_temperature, models_of(draft.spec)):
            sentence = _("The model “%(model)s” doesn't support a temperature. Clear it.")
            text = sentence % {"model": model}
            yield warning("unsupported_temperature", "parameters", text, at="temperature")


def _is_in_range(value: Json, low: float, high: float) -> bool:
    kinds = (int, float) if high < inf else (int,)
    return type(value) in kinds and low <= cast("float", value) <= high


def shorten(text: str) -> str:
    """Return a text in one line of at most 60 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
