"""What those who watch the server are told of a run when it begins."""

from django.conf import settings

from copilot_admin.copilots.live import Answerer
from copilot_admin.copilots.user_words import named
from copilot_admin.models import Logging
from copilot_admin.runs.admitted_query import AdmittedQuery
from copilot_admin.telemetry.run_watch import RunWatch, WatchedRun
from copilot_admin.transcripts.store import Opening


def watch_of(question: AdmittedQuery, opening: Opening, *, answerer: Answerer | None) -> RunWatch:
    """Begins to watch a run.

    Args:
        question: That is answered.
        opening: What the journal is told of it.
        answerer: Who answers; None: the copilot is not ready.
    """
    return RunWatch(
        WatchedRun(
            ids=question.ids,
            copilot=question.live.slug,
            version=question.live.version_number,
            caller=question.caller.principal,
            user=named(question.user, settings.USER_IN_LOGS),
            is_trial=question.caller.is_trying,
            generation=question.query.generation,
            provider=opening.provider,
            provider_kind=answerer.spec.provider.kind if answerer else "",
            provider_address=answerer.spec.provider.base_url if answerer else "",
            model=opening.model,
            # What a collector of traces gets is looked through by nobody.
            keeps_content=question.live.logging is Logging.EVERYTHING
            and not question.live.redaction,
            started_at=opening.started_at,
            came=question.came,
        )
    )
