"""What is kept of a call of a component over HTTP."""

import pytest

from copilot_admin.component_calls import call
from copilot_admin.config.logs import ThrottledWarnings
from copilot_admin.models import CallStatus, Logging
from copilot_admin.storage.writer import DatabaseThread
from tests.api.component_keys import HI, key, uses
from tests.component_calls.component_http import Stage, ask, rows, served
from tests.factories import make_key, make_published

__all__ = ["key", "served"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]


class TestRecords:
    def test_a_call_leaves_a_row_without_secrets(self):
        issued, key = make_key()
        sent = {"query": "https://files.test/a.csv?sig=abc&x=1", "_sys_end_user_id": "ada"}
        reply = ask("/echo", {"parameters": sent}, key=key, X_Trace_Id="t-1")
        (call,) = rows()
        assert (call.component, call.version, call.action) == ("echo", "v2", "tool_eval")
        assert call.arguments == {"query": "https://files.test/a.csv?x=1"}
        assert (call.trace_id, call.request_id) == ("t-1", reply.json["request_id"])
        assert (call.key_id, call.copilot_id) == (issued.pk, None)
        assert (call.status, call.events, call.usage, call.error) == (CallStatus.DONE, 2, [], "")
        assert 0 <= call.ms < 60_000

    @pytest.mark.parametrize(
        ("logging", "kept"),
        [
            (Logging.EVERYTHING, [{"query": "hi"}]),
            (Logging.METADATA, [None]),
            (Logging.NOTHING, []),
        ],
    )
    def test_the_copilot_decides_what_is_kept(self, logging, kept):
        copilot = make_published(components=uses("echo@v1"), logging=logging)
        _, key = make_key(copilots=(copilot,))
        assert ask("/echo", HI, key=key).status == 200
        assert [call.arguments for call in rows()] == kept

    @pytest.mark.parametrize(
        ("logging", "error"),
        [
            (Logging.EVERYTHING, "A salary of 5 is too small."),
            (Logging.METADATA, "The arguments were refused."),
        ],
    )
    def test_what_is_refused_is_quoted_only_where_everything_is_kept(self, logging, error):
        Stage.script = (ValueError("A salary of 5 is too small."),)
        copilot = make_published(components=uses("stage@v1"), logging=logging)
        _, key = make_key(copilots=(copilot,))
        assert ask("/stage", {}, key=key).json["message"] == "A salary of 5 is too small."
        assert [(call.status, call.error) for call in rows()] == [(CallStatus.REFUSED, error)]

    def test_a_row_that_cannot_be_stored_keeps_nobody_waiting(self, key, monkeypatch, caplog):
        full = DatabaseThread("full", capacity=0)
        monkeypatch.setattr(call, "WRITER", full)
        monkeypatch.setattr(call, "UNRECORDED", ThrottledWarnings(call.logger))
        assert ask("/echo", HI, key=key).words == "hi"
        assert rows() == []
        assert "a call of echo was not recorded" in caplog.text
