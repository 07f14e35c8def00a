"""Keeps a record of each call of a component; a record that cannot be kept stops nobody."""

import asyncio
from concurrent.futures import Future
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import partial
import json
import logging

from copilot_admin.copilots.users import AskingUser
from copilot_admin.errors import Unavailable
from copilot_admin.models import ComponentCall, EndUser
from copilot_admin.redaction.redactor import redacted
from copilot_admin.redaction.rules import NO_RULES, Rules
from copilot_admin.storage.errors import is_outage, is_refusal
from copilot_admin.storage.writer import WRITER
from copilot_admin.telemetry.run_log import ThrottledWarnings
from copilot_admin.transcripts.store.users import written
from protocol.json import Json
from protocol.redaction import redact, redact_text
from protocol.walk import weighs_more

logger = logging.getLogger(__name__)
UNRECORDED = ThrottledWarnings(logger)

LONGEST_ARGUMENTS = 50_000  # characters as JSON; beyond them the beginning is kept as text
BEGINNING = 2_000
# Values of arguments, and texts by so many characters, that are made ready in the event loop: 6 ms. A
# call of 16 MB with signed addresses takes 4 s, in which the writer's thread would keep no answer.
READY_INLINE = 1_000
READY_CHARACTERS = 20
_NOT_RECORDED = "a call of %s was not recorded: %s"


@dataclass(slots=True)
class Owner:
    """The user whose call it is.

    His row is written when he calls. If he is erased while the call goes on, nothing of it is kept:
    only what is asked later brings him back.

    Attributes:
        row_id: None: it is not written yet.
    """

    user: AskingUser
    at: datetime
    row_id: int | None = None

    def write(self) -> None:
        """Writes his row, on the writer's thread."""
        self.row_id = written(self.user, at=self.at)


def owner_of(user: AskingUser | None, *, at: datetime) -> Owner | None:
    """Has the row of who calls written; returns at once.

    Args:
        user: None: nobody named him.
        at: When he called.
    """
    if user is None:
        return None
    owner = Owner(user, at)
    try:
        WRITER.submit(owner.write)
    except Unavailable as error:
        UNRECORDED.warn("user", "who calls was not recorded yet: %s", error.public)
    return owner


def keep(call: ComponentCall, rules: Rules = NO_RULES, *, owner: Owner | None = None) -> None:
    """Hands a record to the writer of the journal; returns at once.

    Args:
        call: Not stored yet; its arguments as they came, or None.
        rules: What is to be taken out of it; with any, or with many arguments, it is called in an
            event loop.
        owner: Whose call it is; None: nobody named him.
    """
    task = partial(_make_ready_and_keep, call, rules, owner)
    if rules or weighs_more([call.arguments], than=READY_INLINE, text=READY_CHARACTERS):
        asyncio.get_running_loop().run_in_executor(None, task)
    else:
        task()


def _make_ready_and_keep(call: ComponentCall, rules: Rules, owner: Owner | None) -> None:
    if rules:
        (call.error,) = redacted([str(call.error)], rules)
        (call.arguments,) = redacted([call.arguments], rules)
    call.error = redact_text(call.error)
    if call.arguments is not None:
        call.arguments = shown_arguments(call.arguments)
    try:
        storing = WRITER.submit(partial(_store, call, owner))
    except Unavailable as error:
        UNRECORDED.warn(error.code, _NOT_RECORDED, call.component, error.public)
    else:
        storing.add_done_callback(partial(_look, call.component))


def _store(call: ComponentCall, owner: Owner | None) -> None:
    row = copy(call)  # the writer may do this again
    if owner is not None:
        if owner.row_id is None:
            owner.write()
        elif not EndUser.objects.filter(pk=owner.row_id).exists():
            return
        row.user_id = owner.row_id
    row.save(force_insert=True)


def shown_arguments(arguments: Json) -> Json:
    """What is kept of arguments: without secrets, and not more than somebody would read."""
    kept = redact(arguments)
    text = json.dumps(kept, ensure_ascii=False)
    return kept if len(text) <= LONGEST_ARGUMENTS else f"{text[:BEGINNING]} …"


def _look(component: str, done: "Future[None]") -> None:
    error = done.exception()
    if error is None:
        return
    if is_outage(error) and not is_refusal(error):  # and many more will be
        # Only its class: what a database says may have its address, or a password.
        UNRECORDED.warn("database", _NOT_RECORDED, component, type(error).__name__)
        return
    logger.error("a call of a component was not recorded", exc_info=error)
