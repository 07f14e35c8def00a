"""The saved questions of a copilot asked by a command, which says what became of each."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from django import db

from copilot_admin.copilots.callers import Caller
from copilot_admin.errors import Unavailable
from copilot_admin.evaluation.question_runs import (
    QuestionResult,
    Target,
    result_of,
    target_of,
    trying,
    without_answer,
)
from copilot_admin.jobs.tasks import run_coroutine
from copilot_admin.models import Copilot, Judgement, SavedQuestion, Side
from copilot_admin.runs.run import RUNNING
from copilot_admin.runs.tasks import spawn
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.transcripts.store.checkpoints import HEARTBEAT_SECONDS, beat
from protocol.json import JsonObject

AT_ONCE = 4  # questions; the servers of models take a few from one caller
LONGEST_LINE = 100  # characters of a question in a line

Checked: TypeAlias = tuple[SavedQuestion, QuestionResult]


def check_questions(copilot: Copilot, side: Side) -> list[Checked]:
    """Asks all saved questions of a copilot and judges the answers; keeps none of them.

    Args:
        copilot: Whose.
        side: Who is asked.

    Returns:
        Each question with its result, in the order of the questions.
    """
    # What they bring is read when they are asked: all of it may be too much at once.
    questions = list(SavedQuestion.objects.filter(copilot=copilot).defer("body"))
    target = target_of(copilot, side)
    results = run_coroutine(_results(questions, target, trying(None)))
    return list(zip(questions, results, strict=True))


def line_of(checked: Checked) -> str:
    """A question and what became of it, in a line."""
    saved, result = checked
    question = " ".join(saved.question.split())
    short = question if len(question) <= LONGEST_LINE else f"{question[: LONGEST_LINE - 1]}…"
    reason = " ".join(result.verdict.reason.split())
    return f"{result.verdict.judgement}: {short}" + (f" ({reason})" if reason else "")


def told(
    copilot: Copilot, side: Side, results: Sequence[Checked], outcome: Judgement
) -> JsonObject:
    """The whole check as JSON, for programs."""
    return {
        "copilot": copilot.slug,
        "side": side.value,
        "outcome": outcome.value,
        "questions": [_told(saved, result) for saved, result in results],
    }


def _told(saved: SavedQuestion, result: QuestionResult) -> JsonObject:
    figures = result.asked.figures
    return {
        "question": saved.question,
        "expect": saved.expectation,
        "outcome": result.verdict.judgement.value,
        "reason": result.verdict.reason,
        "answer": result.asked.answer.text,
        "ms": figures.ms,
        "input_tokens": figures.input_tokens,
        "output_tokens": figures.output_tokens,
    }


async def _results(
    questions: Sequence[SavedQuestion], target: Target, caller: Caller
) -> list[QuestionResult]:
    places = asyncio.Semaphore(AT_ONCE)

    async def ask(saved: SavedQuestion) -> QuestionResult:
        async with places:
            try:
                whole = await READER.run(partial(SavedQuestion.objects.get, pk=saved.pk))
                return await result_of(whole, target, caller)
            except Unavailable as error:
                return without_answer(error.public, target.source)

    beating = spawn(_beat(), name="heartbeat of a command")
    try:
        return await asyncio.gather(*map(ask, questions))
    finally:
        beating.cancel()


async def _beat() -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_SECONDS)
        with suppress(db.Error, Unavailable):
            await WRITER.run(partial(beat, tuple(run.id for run in tuple(RUNNING))))
