"""The questions of a copilot in its file: read with every fault, kept, written."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Max
from django.utils.translation import gettext as _
from pydantic import ValidationError

from copilot_admin.copilots.questions.entry import MOST_QUESTIONS, QuestionEntry
from copilot_admin.copilots.questions.expectation import (
    Expectation,
    ExpectationEntry,
    expectation_in,
)
from copilot_admin.copilots.questions.order import digest_of_question
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.faults import BadQuestion
from copilot_admin.import_export.validation import faults_of
from copilot_admin.models import Copilot, SavedQuestion


def read_question(row: object) -> QuestionEntry:
    """A question of plain values.

    Raises:
        BadQuestion: With every fault.
    """
    try:
        return QuestionEntry.model_validate(row)
    except ValidationError as error:
        raise BadQuestion(faults_of(error, QuestionEntry)) from error


def read_expectation(row: Mapping[str, Any]) -> Expectation | None:
    """What a row says of the answer; None where nothing is expected.

    Raises:
        BadQuestion: With every fault.
    """
    try:
        return expectation_in(row)
    except ValidationError as error:
        raise BadQuestion(faults_of(error, ExpectationEntry)) from error


def row_of(saved: SavedQuestion) -> dict[str, Any]:
    """A question as a file has it; also one that this release cannot read any more."""
    expect = {"expect": saved.expectation} if saved.expectation else {}
    label = {"label": saved.label} if saved.label else {}
    return {"question": saved.question, **expect, **saved.body, **label}


def rows_of(copilot: Copilot) -> list[dict[str, Any]]:
    """The questions of a copilot, in their order."""
    return [row_of(saved) for saved in SavedQuestion.objects.filter(copilot=copilot)]


def keep_questions(
    copilot: Copilot, rows: Sequence[Mapping[str, Any]], origins: Mapping[str, int]
) -> None:
    """Makes these the questions of a copilot; one that stays as it is keeps its answers.

    Args:
        copilot: Whose.
        rows: As a file has them.
        origins: The conversations that questions of this server were made from, by their digests.
            What is imported where it was exported is a copy, and goes with its conversation too.
    """
    # What they bring may be much: they are told apart without it.
    before = list(SavedQuestion.objects.filter(copilot=copilot).defer("body"))
    own = {one.digest: one.origin for one in before if one.origin is not None}
    for position, row in enumerate(rows):
        saved = SavedQuestion(copilot=copilot, position=position)
        fill(saved, row)
        saved.origin = own.get(saved.digest, origins.get(saved.digest))
        same = next((one for one in before if _is_same(one, saved)), None)
        if same is None:
            saved.save()
        else:
            before.remove(same)
            # Not saved: its answers would be older than the question.
            SavedQuestion.objects.filter(pk=same.pk).update(position=position)
    for saved in before:
        saved.delete()


def add_question(
    copilot: Copilot, entry: QuestionEntry, *, origin: int | None = None
) -> SavedQuestion:
    """Keeps a question behind the others.

    Args:
        copilot: Whose question it is.
        entry: As a file has it.
        origin: The conversation that it was asked in, if it was not made up here.

    Raises:
        ConfigurationError: There are as many as a copilot may have.
    """
    saved = SavedQuestion(copilot=copilot, origin=origin)
    fill(saved, entry.row())
    return put_last(saved)


def put_last(saved: SavedQuestion) -> SavedQuestion:
    """Stores a new question behind the others of its copilot.

    Raises:
        ConfigurationError: There are as many as a copilot may have.
    """
    rows = SavedQuestion.objects.filter(copilot=saved.copilot_id)
    there = rows.order_by().aggregate(Count("pk"), Max("position"))
    if there["pk__count"] >= MOST_QUESTIONS:
        sentence = _("A copilot has %(most)d saved questions at most. Delete one first.")
        raise ConfigurationError(sentence % {"most": MOST_QUESTIONS})
    last = there["position__max"]
    saved.position = 0 if last is None else last + 1
    saved.save()
    return saved


def fill(saved: SavedQuestion, row: Mapping[str, Any]) -> None:
    """Puts the values of a row of a file into one of the table."""
    body = dict(row)
    saved.question = body.pop("question")
    saved.expectation = body.pop("expect", {})
    saved.label = body.pop("label", "")
    saved.body = body
    saved.digest = digest_of_question(saved.question, body)


def _is_same(one: SavedQuestion, other: SavedQuestion) -> bool:
    return (one.digest, one.expectation, one.label) == (
        other.digest,
        other.expectation,
        other.label,
    )
