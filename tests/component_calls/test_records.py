"""What is kept of a large call is made ready beside the writer's thread, which others wait for."""

import asyncio
import threading
from typing import Any

from django.utils import timezone
import pytest

from copilot_admin.component_calls import records
from copilot_admin.component_calls.records import BEGINNING, keep
from copilot_admin.models import CallStatus, ComponentCall
from copilot_admin.storage.writer import WRITER
from protocol.redaction import redact

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
SIGNED = "https://files.test/a?sig=1 "
ALL = 10_000  # addresses, more than are kept


def call(arguments: dict[str, Any]) -> ComponentCall:
    return ComponentCall(
        component="c", version="v", action="run", status=CallStatus.DONE, ms=1,
        error=SIGNED, arguments=arguments, created_at=timezone.now(),
    )  # fmt: skip


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Those on which arguments were redacted."""
    found: list[str] = []

    def watched(value: Any) -> Any:
        found.append(threading.current_thread().name)
        return redact(value)

    monkeypatch.setattr(records, "redact", watched)
    return found


def kept(arguments: dict[str, Any]) -> ComponentCall:
    async def in_a_loop() -> None:
        keep(call(arguments))

    asyncio.run(in_a_loop())  # waits for its threads
    WRITER.submit(lambda: None).result()
    return ComponentCall.objects.get()


@pytest.mark.parametrize(
    "arguments", [{"text": SIGNED * ALL}, {"rows": [SIGNED] * ALL}, {"row": {str(n): 1 for n in range(ALL)}}]
)  # fmt: skip
def test_of_a_large_call_neither_the_loop_nor_the_writer_makes_it_ready(threads, arguments):
    row = kept(arguments)
    assert len(row.arguments) < BEGINNING + 10 and "sig=" not in row.arguments
    (thread,) = threads
    assert thread != threading.current_thread().name and "journal" not in thread


def test_of_a_small_call_all_is_kept_without_signatures(threads):
    row = kept({"text": SIGNED, "token": "t"})
    assert (row.arguments, row.error) == (
        {"text": "https://files.test/a "},
        "https://files.test/a ",
    )
    assert threads == [threading.current_thread().name]
