"""`manage.py replay`: saved questions asked of a draft, a version or another model, and what changed."""

from argparse import ArgumentParser
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
import json
import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import QuerySet

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.replay_decisions import ReplayWish, cost_sentence
from copilot_admin.evaluation.replay_queue import begin, grant
from copilot_admin.evaluation.replay_reading import ReplayView, pairs_of, replay_views
from copilot_admin.evaluation.replay_reading import told as told_of
from copilot_admin.evaluation.replay_targets import WantedTarget, replay_of
from copilot_admin.evaluation.replay_tasks import replay_here
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.models import (
    Action,
    Copilot,
    Provider,
    Replay,
    ReplayAnswer,
    ReplayState,
    ReplayTarget,
    SavedQuestion,
)

SAME, CHANGED, NOT_RUN = 0, 1, 2  # exit statuses
ALL = "all"
MOST_DOLLARS = 10**12  # a column of costs takes so many; more is a slip
LONGEST_LINE = 100  # characters of a question in a line

# Why not all was asked; of a bound the summary says it.
_UNFINISHED: Mapping[str, str] = {
    ReplayState.PAUSED: "Paused. Go on with it in the admin.",
    ReplayState.STOPPED: "Somebody stopped it in the admin.",
    ReplayState.RUNNING: "Not all could be asked now. A server goes on with it.",
    ReplayState.WAITING: "Nothing could be asked now. A server goes on with it.",
}


class Command(SanitizedCommand):
    """Replay the saved questions of a copilot, and waits for the end."""

    help = "Asks saved questions of a draft, a version or another model, and says what changed."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Lets `--version` be that of a copilot: Django says its own with every other command."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the copilot, the questions, whom to ask, and the bound."""
        parser.add_argument("slug", metavar="SLUG", help="of the copilot")
        parser.add_argument(
            "--questions", default=ALL, metavar="WHICH", help="all, a label, or ids: 3,5 (all)"
        )
        asked = parser.add_mutually_exclusive_group()
        asked.add_argument("--draft", action="store_true", help="ask the draft (the default)")
        asked.add_argument("--version", type=int, metavar="N", dest="number", help="ask a version")
        asked.add_argument(
            "--model", default="", metavar="ID", help="ask the draft with this model"
        )
        parser.add_argument("--provider", metavar="NAME", help="of that model (the draft's own)")
        parser.add_argument("--most-cost", metavar="X", help="stop at so many US dollars")
        parser.add_argument("--json", action="store_true", help="say all of it as JSON")

    def handle(self, *, slug: str, **options: Any) -> None:
        """Ends the process with what the answers come to."""
        known = Copilot.objects.filter(slug=slug, deletion_requested_at=None)
        copilot = known.select_related("provider").first()
        if copilot is None:
            raise CommandError(f"There is no copilot with the slug '{slug}'.", returncode=NOT_RUN)
        try:
            replay = begin(
                replay_of(copilot, _wanted(options)), _questions(copilot, options["questions"])
            )
        except ConfigurationError as error:
            raise CommandError(error.public, returncode=NOT_RUN) from error
        facts = {"copilot": slug, "target": replay.target}
        record(Action.STARTED, by=Actor.command(), on=Subject.of(replay), after=facts)
        try:
            replay_here(replay.pk)
        except KeyboardInterrupt:
            grant(replay.pk, ReplayWish.PAUSE)
        view = _view_of(replay.pk, known)
        if sentence := _UNFINISHED.get(view.replay.state, ""):
            self.stderr.write(sentence)
        answers = list(pairs_of(replay.pk))
        if options["json"]:
            self.stdout.write(json.dumps(told_of(view, answers), indent=2))
        else:
            self._tell(view, answers)
        sys.exit(exit_of(view))

    def _tell(self, view: ReplayView, answers: list[ReplayAnswer]) -> None:
        self.stdout.write("\n".join(map(_line, answers)))
        self.stdout.write(f"{view.asked}: {view.summary}")
        self.stdout.write(view.why or cost_sentence(view.tally.spent))


def _view_of(replay_id: int, copilots: QuerySet[Copilot]) -> ReplayView:
    """Return a finished replay.

    Raises:
        CommandError: The replay or its copilot was deleted meanwhile.
    """
    views = replay_views(Replay.objects.filter(pk=replay_id))
    if not copilots.exists():
        raise CommandError("The copilot was deleted before the end.", returncode=NOT_RUN)
    if not views:
        raise CommandError("The replay was deleted before its end.", returncode=NOT_RUN)
    return views[0]


def exit_of(view: ReplayView) -> int:
    """Return the exit status of a replay."""
    tally = view.tally
    if view.replay.state != ReplayState.DONE or tally.failed or tally.undecided:
        return NOT_RUN
    return CHANGED if tally.changed or tally.not_as_expected else SAME


def _wanted(options: dict[str, Any]) -> WantedTarget:
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
        provider=_provider(options["provider"]),
        model=options["model"],
        most_cost=_amount(options["most_cost"]),
    )


def _provider(name: str | None) -> Provider | None:
    if not name:
        return None
    found = Provider.objects.filter(name=name).first()
    if found is None:
        raise ConfigurationError(f"There is no provider '{name}'. Add it in the admin first.")
    return found


def _amount(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or not 0 <= amount < MOST_DOLLARS:
        raise ConfigurationError(f"'{text}' is no amount of US dollars, such as 0.50.")
    return amount


def _questions(copilot: Copilot, which: str) -> QuerySet[SavedQuestion]:
    """Return all questions, those with some ids, or those with a label.

    Raises:
        ConfigurationError: An id isn't one of this copilot.
    """
    rows = SavedQuestion.objects.filter(copilot=copilot)
    ids = which.replace(" ", "").split(",")
    if which == ALL:
        return rows
    if all(one.isascii() and one.isdecimal() and len(one) <= 18 for one in ids):
        known = set(rows.filter(pk__in=map(int, ids)).values_list("pk", flat=True))
        for one in ids:
            if int(one) not in known:
                raise ConfigurationError(f"'{copilot.slug}' has no saved question {one}.")
        return rows.filter(pk__in=known)
    return rows.filter(label=which)


def _line(answer: ReplayAnswer) -> str:
    """Describe the answer of a question."""
    question = " ".join(answer.head.split())
    short = question if len(question) <= LONGEST_LINE else f"{question[: LONGEST_LINE - 1]}…"
    if not answer.answered_at:
        word = "not asked"
    elif answer.failure:
        return f"failed: {short} ({' '.join(answer.failure.split())})"
    elif answer.is_changed is None:
        word = "new"
    else:
        word = "changed" if answer.is_changed else "same"
    return f"{word}{', slower' if answer.is_slower else ''}: {short}"
