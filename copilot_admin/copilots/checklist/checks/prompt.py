"""What can be wrong with the system prompt: its placeholders, and its length."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from copilot_admin.agent.prompt.placeholders import (
    find_unclosed,
    in_single_braces,
    unknown_placeholders,
)
from copilot_admin.agent.values.model_call import estimated_tokens
from copilot_admin.copilots.checklist.check import Check
from copilot_admin.copilots.checklist.finding import Finding, error, warning
from copilot_admin.copilots.checklist.known_models import models_of, window_of
from copilot_admin.copilots.checklist.subject import DraftContent, DraftFacts
from protocol.data import render

_PUNCTUATION = ".,;:!?)}"  # ends the sentence with a name
_LONGEST_NAME = 60  # characters between braces; a name is shorter


@Check
def unknown(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """A name in double braces that means nothing."""
    spec = content.spec
    for name in unknown_placeholders(spec.system_prompt, spec.custom_features):
        sentence = _("The prompt has the unknown placeholder {{ %(name)s }}.")
        yield error("system_prompt", sentence % {"name": _shortened(name)})


@Check
def unclosed(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """A placeholder without an end, which the model would see as it is."""
    if (name := find_unclosed(content.spec.system_prompt)) is not None:
        yield error("system_prompt", _not_closed(name), only_for_people=True)


@Check
def single_braces(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """A known name in single braces is text like any other."""
    spec = content.spec
    for name in in_single_braces(spec.system_prompt, spec.custom_features):
        sentence = _(
            "The prompt has {%(name)s} in single braces, which isn't replaced. Write "
            "{{ %(name)s }}."
        )
        yield warning("system_prompt", sentence % {"name": name})


@Check
def empty(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """No instructions at all."""
    if not content.spec.system_prompt.strip():
        yield warning("system_prompt", _("The prompt is empty. Add instructions."))


@Check
def too_long(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Prompt and data notes do not fit into the window of a model that may answer."""
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


def _not_closed(name: str) -> str:
    sentence = _("A placeholder in the prompt is not closed. Add }} after “{{ %(name)s”.")
    words = name.partition("{{")[0].split()
    return sentence % {"name": _shortened(words[0].rstrip(_PUNCTUATION) if words else "…")}


def _shortened(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 1]}…"
