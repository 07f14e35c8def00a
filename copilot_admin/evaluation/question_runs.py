"""Saved questions made ready, asked and judged."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
import hashlib
import json

from django.contrib.auth import get_user_model
from django.utils.translation import gettext as _

from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.live import LiveCopilot, live_copilots
from copilot_admin.copilots.other_providers import find_missing, names_in_draft
from copilot_admin.copilots.publishing import document_of
from copilot_admin.copilots.users import user_of_admin
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.asking import AskingResult, ask
from copilot_admin.evaluation.expectations import AnswerVerdict, GivenAnswer
from copilot_admin.evaluation.judging import judge
from copilot_admin.evaluation.playground import draft_in_trial
from copilot_admin.evaluation.question_queue import AnswerSource
from copilot_admin.import_export.questions import read_question, row_of
from copilot_admin.models import Copilot, Judgement, SavedQuestion, Side
from copilot_admin.models.conversations import PLAYGROUND

NOBODY = AnswerSource()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Who is asked; `problem` says why nobody can be."""

    source: AnswerSource = NOBODY
    live: LiveCopilot | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionResult:
    """An answer, what became of it, and whose it is."""

    asked: AskingResult
    verdict: AnswerVerdict
    source: AnswerSource


def trying(user_id: int | None) -> Caller:
    """Who asks, as the playground names him; None: a command. Reads the database."""
    if user_id is None:
        return Caller(principal=f"{PLAYGROUND}command")
    asking = get_user_model().objects.filter(pk=user_id).first()
    return Caller(
        principal=f"{PLAYGROUND}{user_id}", user=user_of_admin(asking) if asking else None
    )


def target_of(copilot: Copilot, side: Side) -> Target:
    """The draft as it is saved, or what is live; reads the database."""
    if side is Side.DRAFT:
        source = AnswerSource(digest=digest_of_draft(copilot))
        if problem := problem_of_draft(copilot):
            return Target(source=source, problem=problem)
        return Target(source=source, live=draft_in_trial(copilot, tell=lambda call: None))
    found = live_copilots([copilot.pk])
    if not found:
        source = AnswerSource(version_number=copilot.live.number if copilot.live else 0)
        problem = _("Nothing is live: publish the copilot and switch it on.")
        return Target(source=source, problem=problem)
    return Target(source=AnswerSource(version_number=found[0].version_number), live=found[0])


def problem_of_draft(copilot: Copilot) -> str:
    """Why a draft cannot be asked as its controls are; empty when it can."""
    for name in find_missing(names_in_draft(copilot)):
        problem = _("There is no provider named '%(name)s'. Choose another.")
        return problem % {"name": name}
    return ""


def digest_of_draft(copilot: Copilot) -> str:
    """What changes whenever a draft would answer otherwise."""
    whole = [document_of(copilot), copilot.provider_id]
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=_plain).encode()).hexdigest()


async def result_of(saved: SavedQuestion, target: Target, caller: Caller) -> QuestionResult:
    """Asks a question and judges its answer.

    Raises:
        Unavailable: It has to be asked again later.
    """
    try:
        entry = await asyncio.to_thread(read_question, row_of(saved))  # of up to 4 MB
    except ConfigurationError as error:
        problem = _("The question cannot be asked: %s") % error.public
        return without_answer(problem, target.source)
    if target.live is None:
        return without_answer(target.problem, target.source)
    asked = await ask(target.live, caller, entry, origin=saved.origin)
    expected = entry.expect.value() if entry.expect else None
    judged = await judge(asked, expected, target.live.answerer)
    asked = replace(asked, figures=judged.added_to(asked.figures))
    return QuestionResult(asked=asked, verdict=judged.verdict, source=target.source)


def without_answer(problem: str, source: AnswerSource = NOBODY) -> QuestionResult:
    """What becomes of a question that could not be asked."""
    asked = AskingResult(answer=GivenAnswer(text=""), trace_id="", failure=problem)
    return QuestionResult(
        asked=asked, verdict=AnswerVerdict(Judgement.UNDECIDED, problem), source=source
    )


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)
