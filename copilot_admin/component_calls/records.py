"""Keeps a record of each call of a component; a record that cannot be kept stops nobody."""

import asyncio
from concurrent.futures import Future
from copy import copy
from functools import partial
import json
import logging

from copilot_admin.errors import Unavailable
from copilot_admin.models import ComponentCall
from copilot_admin.redaction.redactor import redacted
from copilot_admin.redaction.rules import NO_RULES, Rules
from copilot_admin.storage.writer import WRITER
from protocol.json import Json
from protocol.redaction import redact, redact_text

logger = logging.getLogger(__name__)

LONGEST_ARGUMENTS = 50_000  # characters as JSON; beyond them the beginning is kept as text
BEGINNING = 2_000


def keep(call: ComponentCall, rules: Rules = NO_RULES) -> None:
    """Hands a record to the writer of the journal; returns at once.

    Args:
        call: Not stored yet; its arguments as they came, or None.
        rules: What is to be taken out of it; then it is called in an event loop.
    """
    if rules:
        asyncio.get_running_loop().run_in_executor(None, partial(_redact_and_keep, call, rules))
    else:
        _hand_over(call)


def _redact_and_keep(call: ComponentCall, rules: Rules) -> None:
    (call.error,) = redacted([str(call.error)], rules)
    (call.arguments,) = redacted([call.arguments], rules)
    _hand_over(call)


def _hand_over(call: ComponentCall) -> None:
    try:
        WRITER.submit(partial(_store, call)).add_done_callback(_look)
    except Unavailable as error:
        logger.warning("a call of %s was not recorded: %s", call.component, error.public)


def _store(call: ComponentCall) -> None:
    row = copy(call)  # the writer may do this again
    row.error = redact_text(call.error)
    if call.arguments is not None:
        row.arguments = shown_arguments(call.arguments)
    row.save(force_insert=True)


def shown_arguments(arguments: Json) -> Json:
    """What is kept of arguments: without secrets, and not more than somebody would read."""
    kept = redact(arguments)
    text = json.dumps(kept, ensure_ascii=False)
    return kept if len(text) <= LONGEST_ARGUMENTS else f"{text[:BEGINNING]} …"


def _look(done: "Future[None]") -> None:
    error = done.exception()
    if error is not None:
        logger.error("a call of a component was not recorded", exc_info=error)
