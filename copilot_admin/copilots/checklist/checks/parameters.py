"""What can be wrong with the parameters of a model call, and with the other numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, isfinite

from django.utils.translation import gettext as _

from copilot_admin.agent.llm.model_choice import RESERVED_PARAMETERS
from copilot_admin.agent.values.spec import MAX_CALL_LIMIT, MIN_DATA_TOKENS
from copilot_admin.copilots.checklist.check import Check
from copilot_admin.copilots.checklist.finding import Finding, error, warning
from copilot_admin.copilots.checklist.known_models import models_of, takes_no_temperature
from copilot_admin.copilots.checklist.subject import DraftContent, DraftFacts
from protocol.json import Json


@dataclass(frozen=True, slots=True)
class _Range:
    """Numbers that make sense, both ends included."""

    least: float
    most: float = inf
    is_whole: bool = False

    def has(self, value: Json) -> bool:
        """Whether a value is one of them."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if isinstance(value, float) and not isfinite(value):  # of a long whole number it breaks
            return False
        return self.least <= value <= self.most and (not self.is_whole or value == int(value))

    @property
    def words(self) -> str:
        """What a right value is, in words."""
        ends = {"least": f"{self.least:g}", "most": f"{self.most:g}"}
        if self.most < inf:
            return _("a number from %(least)s to %(most)s") % ends
        return _("a whole number of at least %(least)s") % ends


# As the chat completions of OpenAI have them, which the servers that speak it follow.
_PARAMETERS: Mapping[str, _Range] = {
    "temperature": _Range(0, 2),
    "top_p": _Range(0, 1),
    "max_tokens": _Range(1, is_whole=True),
    "max_completion_tokens": _Range(1, is_whole=True),
    "presence_penalty": _Range(-2, 2),
    "frequency_penalty": _Range(-2, 2),
}
_WITH_AN_INPUT = frozenset({"temperature", "top_p", "max_tokens"})
_CALLS = _Range(1, MAX_CALL_LIMIT, is_whole=True)


@Check
def reserved(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Parameters that the server sets itself."""
    for name in sorted(RESERVED_PARAMETERS & content.spec.parameters.keys()):
        sentence = _("The parameter '%(name)s' is set by the server. Remove it.")
        yield error("parameters", sentence % {"name": name})


@Check
def out_of_range(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Numbers that a provider refuses, and then every question with them."""
    for name, right in _PARAMETERS.items():
        value = content.spec.parameters.get(name)
        if value is not None and not right.has(value):
            sentence = _("The parameter '%(name)s' must be %(right)s, not %(value)s.")
            words = {"name": name, "right": right.words, "value": str(value)[:20]}
            at = name if name in _WITH_AN_INPUT else ""
            yield error("parameters", sentence % words, at=at, only_for_people=True)


@Check
def limits_out_of_range(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Limits of a question that no question could keep to."""
    spec = content.spec
    if spec.max_data_tokens is not None and spec.max_data_tokens < MIN_DATA_TOKENS:
        sentence = _("The data limit of a question must be at least %(least)d tokens.")
        sentence %= {"least": MIN_DATA_TOKENS}
        yield error("max_data_tokens", sentence, only_for_people=True)
    limits = [("max_client_calls", spec.max_client_calls)]
    limits += [("client_call_limits", limit.most) for limit in spec.client_call_limits]
    for field, most in limits:
        if not _CALLS.has(most):
            sentence = _("A call limit must be %(right)s, not %(value)s.")
            words = {"right": _CALLS.words, "value": most}
            yield error(field, sentence % words, only_for_people=True)


@Check
def limits_without_effect(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """A function may be called more often than all together."""
    spec = content.spec
    for limit in spec.client_call_limits:
        if limit.most > spec.max_client_calls:
            sentence = _(
                "“%(function)s” allows %(most)d calls, but the total limit is %(all)d calls."
            )
            words = {
                "function": limit.function,
                "most": limit.most,
                "all": spec.max_client_calls,
            }
            yield warning("client_call_limits", sentence % words)


@Check
def two_kinds_of_chance(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Each makes the other hard to foresee, and some models refuse both."""
    if _are_set(content, "temperature", "top_p"):
        sentence = _("Temperature and top p are both set. Set one: some models refuse both.")
        yield warning("parameters", sentence, at="top_p")


@Check
def two_lengths(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """The longest answer, under its old name and its new one."""
    if _are_set(content, "max_tokens", "max_completion_tokens"):
        sentence = _("'max_tokens' and 'max_completion_tokens' are both set. Set one of them.")
        yield warning("parameters", sentence)


@Check
def temperature_while_reasoning(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Models that think take no temperature."""
    if "temperature" not in content.spec.parameters:
        return
    for model in filter(takes_no_temperature, models_of(content.spec)):
        sentence = _("The model “%(model)s” doesn't support a temperature. Clear it.")
        yield warning("parameters", sentence % {"model": model}, at="temperature")


def _are_set(content: DraftContent, *names: str) -> bool:
    return all(content.spec.parameters.get(name) is not None for name in names)
