"""Tells of questions that were refused before there was an answer."""

from datetime import UTC, datetime, timedelta
from time import monotonic_ns

from copilot_admin.errors import RequestError
from copilot_admin.ids import Ids
from copilot_admin.models import Outcome
from copilot_admin.telemetry.ended_run import EndedRun, Moments
from copilot_admin.telemetry.watchers import tell

_NS_PER_MS = 1_000_000


def tell_refusal(
    error: RequestError,
    *,
    ids: Ids,
    came: int,
    copilot: str = "",
    version: int | None = None,
    caller: str = "",
    user: str = "",
    is_trial: bool = False,
    generation: int | None = None,
    has_row: bool = False,
) -> None:
    """Tells everybody; never raises.

    Args:
        error: What the client is told.
        ids: Of the request.
        came: When it was there (`monotonic_ns`).
        copilot: The slug of the copilot, if there is one that the caller may ask.
        version: That would have answered.
        caller: As transcripts name him, if he was let in.
        user: The user, as the setting has him named.
        is_trial: A builder or a test asked.
        generation: Of the protocol, if the question was read.
        has_row: The journal keeps it.
    """
    moments = Moments(came=came, ended=monotonic_ns())
    ms = (moments.ended - came) // _NS_PER_MS
    tell(
        EndedRun(
            run_id=ids.run_id,
            trace_id=ids.trace_id,
            chat_id=ids.chat_id,
            copilot=copilot,
            version=version,
            caller=caller,
            user=user,
            is_trial=is_trial,
            generation=generation,
            outcome=Outcome.REFUSED,
            error_code=error.code,
            has_row=has_row,
            started_at=datetime.now(UTC) - timedelta(milliseconds=ms),
            ms=ms,
            moments=moments,
            traceparent=ids.traceparent,
        )
    )
