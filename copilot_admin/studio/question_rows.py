"""The saved questions of a copilot as a list shows them: what is expected, and both answers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from copilot_admin.copilot_file.questions import read_question, row_of
from copilot_admin.copilots.questions.expectation import Expectation, ExpectationKind
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import AnswerState, Copilot, SavedAnswer, SavedQuestion, Side
from copilot_admin.studio.differences import Part, differences, shortened
from copilot_admin.studio.question_runs import digest_of_draft


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCell:
    """The newest answer of a side.

    Attributes:
        is_old: The question, the draft or the live version has changed since.
        is_awaited: Another one is on its way.
    """

    answer: SavedAnswer
    is_old: bool

    @property
    def is_awaited(self) -> bool:
        """Whether another answer is on its way."""
        return self.answer.state != AnswerState.DONE

    @property
    def is_there(self) -> bool:
        """Whether there is an answer, or the reason why there is none."""
        return self.answer.answered_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """A question in the list.

    Attributes:
        fault: Why it cannot be asked; empty when it can.
        parts: What the draft says otherwise than what is live; empty unless both have answered.
    """

    question: SavedQuestion
    expected: str
    fault: str
    draft: AnswerCell | None
    live: AnswerCell | None
    parts: tuple[Part, ...]


def question_rows(copilot: Copilot) -> Iterator[QuestionRow]:
    """The questions of a copilot in their order; reads the database."""
    digest = digest_of_draft(copilot)
    questions = SavedQuestion.objects.filter(copilot=copilot).prefetch_related("answers")
    for question in questions:
        cells = {
            answer.side: AnswerCell(
                answer=answer, is_old=_is_old(copilot, question, answer, digest=digest)
            )
            for answer in question.answers.all()
        }
        expected, fault = _expected(question)
        yield QuestionRow(
            question=question,
            expected=expected,
            fault=fault,
            draft=cells.get(Side.DRAFT),
            live=cells.get(Side.LIVE),
            parts=_parts(cells),
        )


def words_of(expected: Expectation) -> str:
    """An expectation as a sentence."""
    about = {"text": expected.text, "number": expected.number, "tolerance": expected.tolerance}
    match expected.kind:
        case ExpectationKind.CONTAINS:
            sentence = _("It contains “%(text)s”.")
        case ExpectationKind.LACKS:
            sentence = _("It does not contain “%(text)s”.")
        case ExpectationKind.NUMBER if expected.tolerance:
            sentence = _("It has the number %(number).10g, give or take %(tolerance).10g.")
        case ExpectationKind.NUMBER:
            sentence = _("It has the number %(number).10g.")
        case ExpectationKind.CITES:
            sentence = _("It cites the widget “%(text)s”.")
        case ExpectationKind.CALLS:
            sentence = _("It calls the function “%(text)s”.")
        case ExpectationKind.JUDGED:
            sentence = _("A model finds: %(text)s")
    return sentence % about


def _expected(question: SavedQuestion) -> tuple[str, str]:
    """What is expected, and why the question cannot be asked."""
    try:
        entry = read_question(row_of(question))
    except ConfigurationError as error:
        return "", error.public
    return (words_of(entry.expect.value()) if entry.expect else ""), ""


def _is_old(copilot: Copilot, question: SavedQuestion, answer: SavedAnswer, *, digest: str) -> bool:
    if answer.answered_at is None or answer.answered_at < question.updated_at:
        return True
    if answer.side == Side.DRAFT:
        return answer.digest != digest
    return copilot.live is None or answer.version_number != copilot.live.number


def _parts(cells: Mapping[str, AnswerCell]) -> tuple[Part, ...]:
    draft, live = cells.get(Side.DRAFT), cells.get(Side.LIVE)
    if draft is None or live is None or not (draft.is_there and live.is_there):
        return ()
    return shortened(differences(live.answer.text, draft.answer.text))
