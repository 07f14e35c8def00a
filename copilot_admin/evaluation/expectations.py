"""Whether an answer is as expected: decided here, except where a model has to judge."""

from collections.abc import Iterable
from dataclasses import dataclass
import re

from django.utils.translation import gettext as _

from copilot_admin.copilots.questions.expectation import Expectation, ExpectationKind
from copilot_admin.evaluation.numbers import is_near, numbers_in
from copilot_admin.models import Judgement

MOST_NAMED = 8  # of what was found instead; more is no help
LONGEST_REASON = 500  # characters of what a judge says

# With whatever signs before and behind, and behind a label: `**Answer:** _Yes_, because …`
_VERDICT = re.compile(
    r"[\W_]*(?:(?:answer|verdict|judge?ment)[\W_]+)?(yes|no)(?![^\W_])", re.IGNORECASE
)
_THOUGHT = ("<think>", "</think>")  # what models that think aloud write before they begin


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """What an answer was found to be, and why."""

    judgement: Judgement
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """What came of a question, as far as an expectation looks at it.

    Attributes:
        cited: All names of each source that is cited: its uuid, its id and its name.
        called: The functions of Workspace, the tools and the components that were called.
    """

    text: str
    cited: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()


def verdict_on(expected: Expectation, answer: GivenAnswer) -> AnswerVerdict | None:
    """Looks at an answer.

    Returns:
        What it is; None where a model has to judge.
    """
    match expected.kind:
        case ExpectationKind.CONTAINS:
            return _found(
                _is_in(expected.text, answer.text),
                _("The answer has these words."),
                _("The answer lacks these words."),
            )
        case ExpectationKind.LACKS:
            return _found(
                not _is_in(expected.text, answer.text),
                _("The answer lacks these words."),
                _("The answer has these words."),
            )
        case ExpectationKind.NUMBER:
            return _number(expected, answer.text)
        case ExpectationKind.CITES:
            return _found(
                expected.text in answer.cited,
                _("The widget is cited."),
                _("The widget is not cited. Cited: %s.") % _named(answer.cited),
            )
        case ExpectationKind.CALLS:
            return _found(
                expected.text in answer.called,
                _("The function was called."),
                _("The function was not called. Called: %s.") % _named(answer.called),
            )
        case ExpectationKind.JUDGED:
            return None


def verdict_of_judge(said: str) -> AnswerVerdict:
    """Reads what a model said that was to judge: YES or NO, and why."""
    begins, ends = _THOUGHT
    said = said.strip()
    if said.startswith(begins):  # only there: a judge may quote an answer that ends a thought
        said = said.partition(ends)[2] or said
    said = said[:LONGEST_REASON]
    found = _VERDICT.match(said)
    reason = said.strip()
    if found is None:
        sentence = _("The judging model said neither yes nor no: %s") % (reason or "-")
        return AnswerVerdict(Judgement.UNDECIDED, sentence)
    is_yes = found[1].lower() == "yes"
    return AnswerVerdict(Judgement.AS_EXPECTED if is_yes else Judgement.NOT_AS_EXPECTED, reason)


def _found(is_so: bool, yes: str, no: str) -> AnswerVerdict:
    return (
        AnswerVerdict(Judgement.AS_EXPECTED, yes)
        if is_so
        else AnswerVerdict(Judgement.NOT_AS_EXPECTED, no)
    )


def _is_in(words: str, text: str) -> bool:
    return _plain(words) in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _number(expected: Expectation, text: str) -> AnswerVerdict:
    seen: dict[float, None] = {}
    for readings in numbers_in(text):
        if any(is_near(value, expected.number, expected.tolerance) for value in readings):
            return AnswerVerdict(Judgement.AS_EXPECTED, _("The answer has the number."))
        seen.update(dict.fromkeys(sorted(readings, key=abs, reverse=True)[:1]))
    sentence = _("The answer lacks the number. Its numbers: %s.")
    named = _named(f"{value:.10g}" for value in list(seen)[: MOST_NAMED + 1])
    return AnswerVerdict(Judgement.NOT_AS_EXPECTED, sentence % named)


def _named(names: Iterable[str]) -> str:
    """Some names in a line; what there is too much of is left out."""
    found = list(names)
    if not found:
        return _("none")
    more = ["…"] if len(found) > MOST_NAMED else []
    return ", ".join([*found[:MOST_NAMED], *more])
