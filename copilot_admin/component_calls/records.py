"""Records of component calls."""

import asyncio
from concurrent.futures import Future
from copy import copy
import json
import logging

from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.errors import CopilotError, Unavailable
from copilot_admin.models import ComponentCall
from copilot_admin.redaction.redactor import redact_values
from copilot_admin.redaction.rules import NO_RULES, Rules
from copilot_admin.storage.writer import WRITER
from copilot_admin.telemetry.finished_runs import ThrottledWarnings
from copilot_admin.transcripts.end_users import save_end_user
from protocol.json import Json
from protocol.redaction import redact, redact_text

logger = logging.getLogger(__name__)
UNRECORDED = ThrottledWarnings(logger)

MAX_ARGUMENTS = 50_000  # characters as JSON; of longer ones the beginning is stored
BEGINNING = 2_000


def record_call(
    call: ComponentCall, rules: Rules = NO_RULES, *, user: AskingUser | None = None
) -> None:
    """Store a call in the background; a failure is logged and reaches no caller.

    Args:
        call: Unsaved, with its arguments as they came or None.
        rules: Personal data to remove.
        user: The user of the call, if known.
    """

    def prepare() -> None:
        (call.error,) = redact_values([str(call.error)], rules)
        (call.arguments,) = redact_values([call.arguments], rules)
        call.error = redact_text(call.error)
        if call.arguments is not None:
            call.arguments = _shorten(redact(call.arguments))
        try:
            WRITER.submit(store).add_done_callback(log_failure)
        except Unavailable as error:
            warn(error)

    def store() -> None:
        row = copy(call)  # the writer may retry
        row.user_id = save_end_user(user, at=call.created_at) if user is not None else None
        row.save(force_insert=True)

    def log_failure(done: "Future[None]") -> None:
        if error := done.exception():
            warn(error)

    def warn(error: BaseException) -> None:
        # Only its class: the text of a database error may have its address or a password.
        reason = error.public if isinstance(error, CopilotError) else type(error).__name__
        message = "a call of %s was not recorded: %s"
        UNRECORDED.warn(type(error).__name__, message, call.component, reason)

    asyncio.get_running_loop().run_in_executor(None, prepare)


def _shorten(arguments: Json) -> Json:
    text = json.dumps(arguments, ensure_ascii=False)
    return arguments if len(text) <= MAX_ARGUMENTS else f"{text[:BEGINNING]} …"
