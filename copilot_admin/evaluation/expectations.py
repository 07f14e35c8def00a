"""Expectations of an answer, and numbers in it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
import math
import re

from django.utils.translation import gettext as _

from copilot_admin.copilots.questions.expectation import Expectation, ExpectationKind
from copilot_admin.models import Judgement

LONGEST = 40  # characters; what is longer is an id, not an amount

_SPACES = "\u00a0\u2009\u202f"  # between thousands; an ordinary space parts two numbers
_MINUS = "-\u2212\u2012\u2013"
_NUMBER = re.compile(rf"[0-9]+(?:[.,'\u2019{_SPACES}][0-9]+)*(?:[eE][+-]?[0-9]+)?")
_SEPARATOR = re.compile(rf"[.,'\u2019{_SPACES}]")
_BLANKS = " " + _SPACES
# What may stand behind a number, and what it does to it: `2 %` is 0.02 too, and `1.2bn` 1,200,000,000.
_SCALES = {
    **dict.fromkeys(("%",), 0.01),
    **dict.fromkeys(("bp", "bps", "basis points"), 0.0001),
    **dict.fromkeys(("k", "thousand"), 1e3),
    **dict.fromkeys(("m", "mm", "mn", "mln", "million"), 1e6),
    **dict.fromkeys(("b", "bn", "bln", "billion"), 1e9),
    **dict.fromkeys(("t", "tn", "trn", "trillion"), 1e12),
}
_SCALE = re.compile(
    rf"[{_BLANKS}]?(%|(?:{'|'.join(sorted(set(_SCALES) - {'%'}, key=len, reverse=True))})\b)",
    re.IGNORECASE,
)


def numbers_in(text: str) -> Iterator[frozenset[float]]:
    """For each number of a text, what it can mean; of a percentage or of millions, both.

    Args:
        text: Of an answer.

    Yields:
        The readings of a number, in the order of the text.
    """
    for found in _NUMBER.finditer(text):
        written = found[0]
        if len(written) > LONGEST:
            continue
        scale = _SCALE.match(text, found.end())
        factor = _SCALES[scale[1].lower()] if scale else 1.0
        signs = _signs(text, found.start(), scale.end() if scale else found.end())
        for readings in _meanings(written):
            signed = {sign * value for value in readings for sign in signs}
            yield frozenset(signed | {value * factor for value in signed})


def is_near(value: float, expected: float, tolerance: float) -> bool:
    return abs(value - expected) <= tolerance + 1e-9 * max(1.0, abs(expected))


def _signs(text: str, start: int, end: int) -> tuple[float, ...]:
    before = text[max(0, start - 1) : start]
    if before and before in "$€£¥":
        start -= 1
        before = text[max(0, start - 1) : start]
    if before and before in _MINUS:
        return (1.0,) if text[max(0, start - 2) : start - 1].isalnum() else (-1.0,)
    is_bracketed = before == "(" and text[end : end + 1] == ")"
    return (1.0, -1.0) if is_bracketed else (1.0,)


def _meanings(written: str) -> Iterator[set[float]]:
    mantissa, _, exponent = written.lower().partition("e")
    groups = _SEPARATOR.split(mantissa)
    marks = _SEPARATOR.findall(mantissa)
    readings = set(_readings(groups, marks))
    if not readings:
        yield from ({float(group)} for group in groups)
        return
    values = {float(f"{reading}e{exponent or 0}") for reading in readings}
    if all(map(math.isfinite, values)):
        yield values


def _readings(groups: list[str], marks: list[str]) -> Iterator[str]:
    if not marks:
        yield groups[0]
        return
    if len(set(marks)) == 1 and _are_thousands(groups):
        yield "".join(groups)
    whole, rest = groups[:-1], groups[-1]
    is_point = marks[-1] in ".," and marks[-1] not in marks[:-1]
    if is_point and len(set(marks[:-1])) <= 1 and (len(whole) == 1 or _are_thousands(whole)):
        yield f"{''.join(whole)}.{rest}"


def _are_thousands(groups: list[str]) -> bool:
    first, *others = groups
    return (
        len(first) <= 3 and not first.startswith("0") and all(len(group) == 3 for group in others)
    )


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
    found = list(names)
    if not found:
        return _("none")
    more = ["…"] if len(found) > MOST_NAMED else []
    return ", ".join([*found[:MOST_NAMED], *more])
