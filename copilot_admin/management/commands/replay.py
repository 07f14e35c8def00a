"""`manage.py replay`: ask saved questions of a draft, a version or another model; show changes."""

from argparse import ArgumentParser
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
import json
import sys
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import QuerySet

from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.replay_decisions import ReplayWish, cost_sentence
from copilot_admin.evaluation.replay_queue import begin, grant
from copilot_admin.evaluation.replay_reading import ReplayView, pairs_of, replay_views, told
from copilot_admin.evaluation.replay_targets import WantedTarget, replay_of
from copilot_admin.evaluation.replay_tasks import replay_here
from copilot_admin.management.base import SanitizedCommand, get_provider
from copilot_admin.models import (
    Action,
    Copilot,
    Replay,
    ReplayAnswer,
    ReplayState,
    ReplayTarget,
    SavedQuestion,
)

EXIT_SAME, EXIT_CHANGED, EXIT_FAILED = 0, 1, 2
ALL = "all"
MAX_COST_DOLLARS = 10**12  # the column's range
MAX_ID_DIGITS = 18  # fits into a 64-bit column
MAX_LINE_LENGTH = 100  # characters of a question

UNFINISHED: Mapping[str, str] = {
    ReplayState.PAUSED: "Paused. Continue it in the admin.",
    ReplayState.STOPPED: "It was stopped in the admin.",
    ReplayState.RUNNING: "Not all questions could be asked now. A server continues.",
    ReplayState.WAITING: "No question could be asked now. A server continues.",
}


class Command(SanitizedCommand):
    error_status = EXIT_FAILED
    help = "Ask saved questions of a draft, a version or another model, and show what changed."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="of the copilot")
        parser.add_argument(
            "--questions", default=ALL, metavar="WHICH", help="label or ids; default: all"
        )
        asked = parser.add_mutually_exclusive_group()
        asked.add_argument("--draft", action="store_true", help="ask the draft (the default)")
        asked.add_argument("--version", type=int, metavar="N", dest="number", help="ask a version")
        asked.add_argument("--model", default="", metavar="ID", help="ask another model")
        parser.add_argument("--provider", metavar="NAME", help="of that model")
        parser.add_argument("--most-cost", metavar="X", help="stop at this cost in US dollars")
        parser.add_argument("--json", action="store_true", help="write the results as JSON")

    def handle(self, *, slug: str, **options: Any) -> None:
        known = Copilot.objects.filter(slug=slug, deletion_requested_at=None)
        copilot = known.select_related("provider").first()
        if copilot is None:
            raise ConfigurationError(f"There is no copilot with the slug '{slug}'.")
        questions = _select_questions(copilot, options["questions"])
        replay = begin(replay_of(copilot, _get_target(options)), questions)
        self.record(Action.STARTED, replay, {"copilot": slug, "target": replay.target})
        try:
            replay_here(replay.pk)
        except KeyboardInterrupt:
            grant(replay.pk, ReplayWish.PAUSE)
        if not known.exists():
            raise ConfigurationError("The copilot was deleted meanwhile.")
        views = replay_views(Replay.objects.filter(pk=replay.pk))
        if not views:
            raise ConfigurationError("The replay was deleted meanwhile.")
        view, answers = views[0], list(pairs_of(replay.pk))
        if hint := UNFINISHED.get(view.replay.state):
            self.stderr.write(hint)
        if options["json"]:
            self.stdout.write(json.dumps(told(view, answers), indent=2))
        else:
            self.stdout.write("\n".join(map(_format_answer, answers)))
            self.stdout.write(f"{view.asked}: {view.summary}")
            self.stdout.write(view.why or cost_sentence(view.tally.spent))
        sys.exit(_get_exit_code(view))


def _get_exit_code(view: ReplayView) -> int:
    tally = view.tally
    if view.replay.state != ReplayState.DONE or tally.failed or tally.undecided:
        return EXIT_FAILED
    return EXIT_CHANGED if tally.changed or tally.not_as_expected else EXIT_SAME


def _get_target(options: dict[str, Any]) -> WantedTarget:
    target = ReplayTarget.DRAFT
    if options["number"] is not None:
        target = ReplayTarget.VERSION
    elif options["model"]:
        target = ReplayTarget.MODEL
    if options["provider"] and target is not ReplayTarget.MODEL:
        raise ConfigurationError("A provider needs its --model.")
    return WantedTarget(
        target=target,
        version_number=options["number"] or 0,
        provider=get_provider(options["provider"]) if options["provider"] else None,
        model=options["model"],
        most_cost=_parse_cost(options["most_cost"]),
    )


def _parse_cost(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or not 0 <= amount < MAX_COST_DOLLARS:
        raise ConfigurationError(f"'{text}' is not an amount of US dollars, use one such as 0.50.")
    return amount


def _select_questions(copilot: Copilot, which: str) -> QuerySet[SavedQuestion]:
    rows = SavedQuestion.objects.filter(copilot=copilot)
    ids = which.replace(" ", "").split(",")
    if which == ALL:
        return rows
    if all(one.isascii() and one.isdecimal() and len(one) <= MAX_ID_DIGITS for one in ids):
        chosen = rows.filter(pk__in=ids)
        if missing := set(map(int, ids)).difference(chosen.values_list("pk", flat=True)):
            raise ConfigurationError(f"'{copilot.slug}' has no saved question {min(missing)}.")
        return chosen
    return rows.filter(label=which)


def _format_answer(answer: ReplayAnswer) -> str:
    question = " ".join(answer.head.split())
    if len(question) > MAX_LINE_LENGTH:
        question = f"{question[: MAX_LINE_LENGTH - 1]}…"
    slower = ", slower" if answer.is_slower else ""
    if not answer.answered_at:
        return f"not asked: {question}"
    if answer.failure:
        return f"failed: {question} ({' '.join(answer.failure.split())})"
    if answer.is_changed is None:
        return f"new{slower}: {question}"
    return f"{'changed' if answer.is_changed else 'same'}{slower}: {question}"
