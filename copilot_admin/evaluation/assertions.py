"""Assertions checked against an answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import re
from typing import Any

from django.utils.translation import gettext as _

from copilot_admin.copilots.assertions import Assertion, AssertionKind
from copilot_admin.evaluation.numbers import find_numbers, is_near
from copilot_admin.models import ResultVerdict
from copilot_admin.pricing.cost import ZERO_COST, Cost
from protocol.json import JsonObject

MAX_NAMES = 8  # found names in a reason
MAX_REASON_LENGTH = 500  # characters of a judge's reason

# Any signs may surround it, and a label precede it: `**Answer:** _Yes_, because ...`
_YES_OR_NO = re.compile(
    r"[\W_]*(?:(?:answer|verdict|judge?ment)[\W_]+)?(yes|no)(?![^\W_])", re.IGNORECASE
)
_THOUGHT = ("<think>", "</think>")  # reasoning that some models put before their answer


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseAnswer:
    """The answer to a test case, with its verdict after it was judged.

    Attributes:
        error: The reason why the answer is missing or incomplete.
        cited: All names of each cited source: its uuid, its id and its name.
        called: Client functions, tools and components that were called.
        ms: Duration of all its requests; tokens and cost are sums too, including the judge's.
        outcomes: Of each assertion, as a result stores it.
    """

    text: str = ""
    error: str = ""
    trace_id: str = ""
    cited: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    ttft_ms: int | None = None
    ms: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Cost = ZERO_COST
    verdict: ResultVerdict = ResultVerdict.ERROR
    outcomes: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict of one assertion, and its reason."""

    verdict: ResultVerdict
    reason: str

    def as_json(self, assertion: Assertion) -> dict[str, Any]:
        """Return the outcome in the form of a stored result."""
        return {
            "assertion": assertion.summary,
            "verdict": self.verdict.value,
            "reason": self.reason,
        }


def check_assertion(assertion: Assertion, answer: CaseAnswer) -> Outcome | None:
    """Check an assertion; return None if it needs a model as judge."""
    match assertion.kind:
        case AssertionKind.CONTAINS:
            return _outcome(
                _is_in(assertion.text, answer.text), _("The text was found."), _("Not found.")
            )
        case AssertionKind.LACKS:
            return _outcome(
                not _is_in(assertion.text, answer.text),
                _("The text does not occur."),
                _("The text occurs in the answer."),
            )
        case AssertionKind.NUMBER:
            return _check_number(assertion, answer.text)
        case AssertionKind.CITES:
            return _outcome(
                assertion.text in answer.cited,
                _("The widget is cited."),
                _("Not cited. Cited: %s.") % _join(answer.cited),
            )
        case AssertionKind.CALLS:
            return _outcome(
                assertion.text in answer.called,
                _("The function was called."),
                _("Not called. Called: %s.") % _join(answer.called),
            )
        case AssertionKind.JUDGED:
            return None


def parse_judgement(text: str) -> Outcome:
    """Parse the reply of a judging model: YES or NO, and the reason."""
    begins, ends = _THOUGHT
    text = text.strip()
    if text.startswith(begins):  # a judge may quote an answer that ends a thought
        text = text.partition(ends)[2] or text
    reason = text[:MAX_REASON_LENGTH].strip()
    found = _YES_OR_NO.match(reason)
    if found is None:
        sentence = _("The judge answered neither yes nor no: %s") % (reason or "-")
        return Outcome(ResultVerdict.INCONCLUSIVE, sentence)
    return _outcome(found[1].lower() == "yes", reason, reason)


def combine_verdicts(verdicts: Sequence[str]) -> ResultVerdict:
    """Return the worst verdict; without any assertion every answer passes."""
    for verdict in (ResultVerdict.ERROR, ResultVerdict.FAILED, ResultVerdict.INCONCLUSIVE):
        if verdict in verdicts:
            return verdict
    return ResultVerdict.PASSED


def _outcome(is_passed: bool, passed: str, failed: str) -> Outcome:
    if is_passed:
        return Outcome(ResultVerdict.PASSED, passed)
    return Outcome(ResultVerdict.FAILED, failed)


def _is_in(words: str, text: str) -> bool:
    return _normalize(words) in _normalize(text)


def _normalize(text: str) -> str:
    return " ".join(text.split()).casefold()


def _check_number(assertion: Assertion, text: str) -> Outcome:
    expected, tolerance = float(assertion.number or 0), float(assertion.tolerance or 0)
    seen: dict[str, None] = {}
    for number in find_numbers(text):
        if any(is_near(value, expected, tolerance) for value in number.values):
            return Outcome(ResultVerdict.PASSED, _("Found: %s.") % number.text)
        seen[number.text] = None
    sentence = _("Not found. Numbers in the answer: %s.") % _join(seen)
    return Outcome(ResultVerdict.FAILED, sentence)


def _join(names: Iterable[str]) -> str:
    found = list(names)
    if not found:
        return _("none")
    more = ["…"] if len(found) > MAX_NAMES else []
    return ", ".join([*found[:MAX_NAMES], *more])
