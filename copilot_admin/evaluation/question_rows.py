"""The saved questions of a copilot as a list shows them: what is expected, and both answers."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Prefetch, QuerySet
from django.db.models.functions import Left

from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.differences import TextPart, differences, shortened
from copilot_admin.evaluation.question_fares import Sources, sources_of, that_differ
from copilot_admin.import_export.questions import read_expectation
from copilot_admin.models import AnswerState, Copilot, SavedAnswer, SavedQuestion, Side

SHOWN = 2000  # characters of an answer in the list


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCell:
    """The newest answer of a side.

    Attributes:
        text: Its beginning.
        is_old: The question, the draft or the live version has changed since.
    """

    answer: SavedAnswer
    text: str
    is_old: bool

    @property
    def is_awaited(self) -> bool:
        return self.answer.state != AnswerState.DONE

    @property
    def is_there(self) -> bool:
        return self.answer.answered_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """A question in the list.

    Attributes:
        fault: Why its answers cannot be judged; empty when they can.
        differs: Whether the draft says otherwise than what is live; both have answered whole.
    """

    question: SavedQuestion
    expected: str
    fault: str
    draft: AnswerCell | None
    live: AnswerCell | None
    differs: bool


def questions_in_order(copilot: Copilot) -> QuerySet[SavedQuestion]:
    """The questions of a copilot, without what they bring."""
    return (
        SavedQuestion.objects.filter(copilot=copilot)
        .select_related("recorded")
        .defer("body", "recorded__text")
    )


def question_rows(
    copilot: Copilot, questions: QuerySet[SavedQuestion] | None = None
) -> Iterator[QuestionRow]:
    """Questions of a copilot with both answers, without what they bring; reads the database.

    Args:
        copilot: Whose.
        questions: Of `questions_in_order`, such as a page of them; default: all.
    """
    sources = sources_of(copilot)
    shown = SavedAnswer.objects.defer("text").annotate(shown=Left("text", SHOWN + 1))
    rows = questions_in_order(copilot) if questions is None else questions
    differing = that_differ(copilot.pk)
    for question in rows.prefetch_related(Prefetch("answers", queryset=shown)):
        cells = {answer.side: _cell(question, answer, sources) for answer in question.answers.all()}
        expected, fault = _expected(question)
        yield QuestionRow(
            question=question,
            expected=expected,
            fault=fault,
            draft=cells.get(Side.DRAFT),
            live=cells.get(Side.LIVE),
            differs=question.pk in differing,
        )


def answer_differences(saved: SavedQuestion) -> tuple[TextPart, ...]:
    """What the draft says otherwise than what is live; nothing unless both have answered whole."""
    answers = SavedAnswer.objects.filter(question=saved, answered_at__isnull=False, failed=False)
    texts = dict(answers.values_list("side", "text"))
    if len(texts) < len(Side):
        return ()
    return shortened(differences(texts[Side.LIVE], texts[Side.DRAFT]))


def _expected(question: SavedQuestion) -> tuple[str, str]:
    try:
        expected = read_expectation(question.expectation)
    except ConfigurationError as error:
        return "", error.public
    return (expected.sentence if expected else ""), ""


def _cell(question: SavedQuestion, answer: SavedAnswer, sources: Sources) -> AnswerCell:
    text: str = answer.shown  # type: ignore[attr-defined]  # an annotation
    is_new = sources.are_of(
        answer.side,
        digest=answer.digest,
        number=answer.version_number,
        answered_at=answer.answered_at,
        changed_at=question.updated_at,
    )
    return AnswerCell(answer=answer, text=text, is_old=not is_new)
