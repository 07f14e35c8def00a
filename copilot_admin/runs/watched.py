"""Observation of a run for log, metrics and traces."""

from django.conf import settings

from copilot_admin.copilots.live import Answerer
from copilot_admin.copilots.users import named
from copilot_admin.models import Logging, Outcome
from copilot_admin.runs.admitted_query import AdmittedQuery
from copilot_admin.telemetry.finished_runs import FinishedRun, RunObserver, RunTimes
from copilot_admin.telemetry.tracing import wants_content
from copilot_admin.transcripts.store import Opening


def observe_run(
    question: AdmittedQuery, opening: Opening, *, answerer: Answerer | None
) -> RunObserver:
    """Start observing a run; without an answerer the copilot isn't ready."""
    ids, live = question.ids, question.live
    run = FinishedRun(
        run_id=ids.run_id,
        trace_id=ids.trace_id,
        chat_id=ids.chat_id,
        copilot=live.slug,
        version=live.version_number,
        caller=question.caller.principal,
        user=named(question.user, settings.USER_IN_LOGS),
        is_trial=question.caller.is_trying,
        generation=question.query.generation,
        outcome=Outcome.RUNNING,
        started_at=opening.started_at,
        provider=opening.provider,
        provider_kind=answerer.spec.provider.kind if answerer else "",
        provider_url=answerer.spec.provider.base_url if answerer else "",
        model=opening.model,
        times=RunTimes(received=question.came),
        # Redaction doesn't cover what a collector of traces gets.
        keeps_content=live.logging is Logging.EVERYTHING and not live.redaction,
        traceparent=ids.traceparent,
    )
    return RunObserver(run, wants_content=wants_content())
