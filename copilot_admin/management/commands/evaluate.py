"""`manage.py evaluate`: run the test cases of a copilot on a draft, a version or another model."""

from argparse import ArgumentParser, ArgumentTypeError
from contextlib import suppress
from decimal import Decimal, InvalidOperation
import json
import sys
from typing import Any

from django.core.management.base import CommandParser

from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.queue import cancel_runs, save_runs
from copilot_admin.evaluation.results import Counts
from copilot_admin.evaluation.targets import make_run
from copilot_admin.evaluation.worker import run_here
from copilot_admin.management.base import SanitizedCommand, get_provider
from copilot_admin.models import (
    Action,
    Copilot,
    EvaluationResult,
    EvaluationRun,
    ResultState,
    ResultVerdict,
    RunState,
    TargetKind,
    TestCase,
)
from copilot_admin.pricing.cost import format_dollars

EXIT_PASSED, EXIT_FAILED, EXIT_ERROR = 0, 1, 2
MAX_COST_DOLLARS = 10**12  # the column's range
MAX_LINE_LENGTH = 100  # characters of a question
_COUNTS = ("total", "passed", "failed", "inconclusive", "errors")


class Command(SanitizedCommand):
    error_status = EXIT_ERROR
    help = "Run the test cases of a copilot. Exit status: 0 all passed, 1 some failed, 2 error."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="of the copilot")
        parser.add_argument("--label", default="", help="only test cases with this label")
        target = parser.add_mutually_exclusive_group()
        target.add_argument("--draft", action="store_true", help="the default")
        target.add_argument("--live", action="store_true", help="the live version")
        target.add_argument("--version", type=int, metavar="N", dest="number", help="a version")
        target.add_argument("--model", default="", metavar="ID", help="the draft with this model")
        parser.add_argument("--provider", metavar="NAME", help="of that model")
        parser.add_argument("--judge", default="", metavar="ID", help="model that judges")
        parser.add_argument("--judge-provider", metavar="NAME", help="of the judge")
        parser.add_argument(
            "--max-cost", metavar="X", type=_parse_cost, help="stop at this cost in US dollars"
        )
        parser.add_argument("--json", action="store_true", help="write the results as JSON")

    def handle(self, *, slug: str, label: str, **options: Any) -> None:
        known = Copilot.objects.filter(slug=slug, deletion_requested_at=None)
        copilot = known.select_related("provider", "live").first()
        if copilot is None:
            raise ConfigurationError(f"There is no copilot with the slug '{slug}'.")
        run = _make_run(copilot, options)
        run.cost_limit = options["max_cost"]
        if options["judge"]:
            run.judge_model = options["judge"]
            name = options["judge_provider"]
            run.judge_provider = get_provider(name) if name else copilot.provider
        cases = TestCase.objects.filter(copilot=copilot)
        save_runs([run], cases.filter(label=label) if label else cases)
        self.record(Action.STARTED, run, {"copilot": slug, "target": run.target})
        runs = EvaluationRun.objects.filter(pk=run.pk)
        try:
            run_here(copilot.pk)
        except KeyboardInterrupt:
            cancel_runs(runs)
        ended = runs.select_related("copilot").first()
        if ended is None:
            raise ConfigurationError("The run was deleted meanwhile.")
        rows = EvaluationResult.objects.filter(run=ended).select_related("case")
        results = list(rows.order_by("case__position", "case"))
        done = [row for row in results if row.state == ResultState.DONE]
        counts = Counts(done, total=len(results))
        if options["json"]:
            self.stdout.write(json.dumps(_as_json(ended, counts, results), indent=2))
        else:
            self._write(ended, counts, results)
        if counts.passed + counts.failed < counts.total:
            sys.exit(EXIT_ERROR)
        sys.exit(EXIT_FAILED if counts.failed else EXIT_PASSED)

    def _write(self, run: EvaluationRun, counts: Counts, results: list[EvaluationResult]) -> None:
        for row in results:
            self.stdout.write(_format_result(row))
        cost = format_dollars(counts.cost)
        unknown = f", {counts.unpriced} of unknown cost" if counts.unpriced else ""
        self.stdout.write(f"{run.target_name}: {counts.sentence}. Cost: {cost}{unknown}.")
        if run.state != RunState.DONE:
            self.stderr.write(f"{run.get_state_display()}.")


def _make_run(copilot: Copilot, options: dict[str, Any]) -> EvaluationRun:
    if options["provider"] and not options["model"]:
        raise ConfigurationError("A provider needs its --model.")
    if options["live"]:
        return make_run(copilot, TargetKind.LIVE)
    if options["number"] is not None:
        return make_run(copilot, TargetKind.VERSION, version_number=options["number"])
    if options["model"]:
        provider = get_provider(options["provider"]) if options["provider"] else None
        return make_run(copilot, TargetKind.MODEL, provider=provider, model=options["model"])
    return make_run(copilot)


def _parse_cost(text: str) -> Decimal:
    with suppress(InvalidOperation):
        amount = Decimal(text)
        if amount.is_finite() and 0 <= amount < MAX_COST_DOLLARS:
            return amount
    raise ArgumentTypeError(f"'{text}' is not an amount of US dollars, use one such as 0.50")


def _format_result(row: EvaluationResult) -> str:
    question = " ".join(row.case.question.split())
    if len(question) > MAX_LINE_LENGTH:
        question = f"{question[: MAX_LINE_LENGTH - 1]}…"
    reasons = [
        f"{one['assertion']}: {one['reason']}"
        for one in row.outcomes
        if one["verdict"] != ResultVerdict.PASSED
    ]
    reason = " ".join("; ".join(reasons or [row.error]).split())
    line = f"{row.verdict or 'not run'}: {question}"
    return f"{line} ({reason})" if reason else line


def _as_json(run: EvaluationRun, counts: Counts, results: list[EvaluationResult]) -> dict[str, Any]:
    return {
        "copilot": run.copilot.slug,
        "target": run.target_name,
        "state": run.state,
        **{name: getattr(counts, name) for name in _COUNTS},
        "cost_usd": f"{counts.cost:f}",
        "answers_of_unknown_cost": counts.unpriced,
        "results": [
            {
                "question": row.case.question,
                "verdict": row.verdict or None,
                **{name: getattr(row, name) for name in ("outcomes", "error", "answer", "ms")},
                "tokens": row.input_tokens + row.output_tokens,
            }
            for row in results
        ],
    }
