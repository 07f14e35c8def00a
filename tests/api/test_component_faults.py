"""What a call of a component over HTTP is refused for, and what is said when it fails."""

import re

import pytest

from copilot_admin.component_calls import call as component_calls
from copilot_admin.models import CallStatus
from copilot_admin.runs.open_run import DRAINING
from protocol.components import create_output
from tests.api.component_keys import HI, key, refusal
from tests.component_calls.component_http import MOMENT, Stage, ask, rows, served

__all__ = ["key", "served"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]


class TestArguments:
    def test_the_question_takes_the_place_of_the_one_argument_that_is_missing(self, key):
        """Vector D-3 9."""
        body = {"stream": False, "parameters": {"_sys_origin_query": "hi"}}
        assert ask("/echo", body, key=key).words == "hi"
        body["parameters"]["query"] = "mine"
        assert ask("/echo", body, key=key).words == "mine"

    def test_a_wrong_type_is_a_bad_request(self, key):
        """Vector D-3 9."""
        reply = ask("/echo", {"parameters": {"query": 1}}, key=key)
        assert refusal(reply) == (400, "bad-call")
        assert reply.json["message"] == (
            "Wrong arguments for echo: query: 1 is not of type 'string'."
        )

    def test_what_the_server_sets_cannot_be_forged(self, key):
        """Vector D-3 9."""
        forged = {"_sys_traceid": "evil", "_sys_uid": "evil", "_sys_debug": True, "size": 1}
        reply = ask("/stage", {"parameters": forged}, key=key, X_Trace_Id="mine")
        assert reply.status == 200
        seen = Stage.seen
        assert (seen["_sys_traceid"], seen["_sys_name"]) == ("mine", "stage")
        assert seen["_sys_uid"] == reply.json["user_id"]
        assert re.fullmatch(MOMENT, seen["_sys_current_time"])
        assert "_sys_debug" not in seen

    def test_what_a_caller_may_set_arrives(self, key):
        sent = {
            "_sys_origin_query": "q",
            "_sys_conversation_id": "c",
            "_sys_end_user_id": "u",
            "_sys_chat_history": [{"role": "user", "content": "x"}],
            "_sys_file_names": ["a.pdf"],
            "_sys_user_instruction": "i",
            "_sys_custom_variables": {"k": 1},
            "model_configs": {"temperature": 0.5},
        }
        ask("/stage", {"parameters": {**sent, "_sys_file_urls": None}}, key=key)
        assert {name: Stage.seen[name] for name in sent} == sent
        assert "_sys_file_urls" not in Stage.seen
        assert "_sys_model" not in Stage.seen
        assert Stage.seen["_sys_documents"] == ()

    @pytest.mark.parametrize(
        ("parameters", "named"),
        [
            ({}, "echo: query is missing."),
            ({"query": "x", "qeury": "y"}, "no parameter 'qeury'"),
            ({"query": None}, "None is not of type 'string'"),
            ({"query": ["x"]}, "echo: query: ['x'] is not of type 'string'"),
        ],
    )
    def test_arguments_that_break_the_manifest_are_named(self, key, parameters, named):
        reply = ask("/echo", {"parameters": parameters}, key=key)
        assert refusal(reply) == (400, "bad-call")
        assert named in reply.json["message"]
        (call,) = rows()
        assert (call.status, call.error) == (CallStatus.REFUSED, reply.json["message"])

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            (b"", "malformed-json"),
            (b"{", "malformed-json"),
            (b'{"parameters": {"query": NaN}}', "malformed-json"),
            (b"\xff", "not-utf8"),
            (b"[]", "bad-parameters"),
            (b'"x"', "bad-parameters"),
            (b'{"stream": "yes"}', "bad-parameters"),
            (b'{"parameters": []}', "bad-parameters"),
            (b'{"parameters": {"_sys_chat_history": [{"role": "x"}]}}', "bad-parameters"),
            (b'{"parameters": {"_sys_origin_query": 1}}', "bad-parameters"),
            (b'{"parameters": {"_sys_copilot": 1}}', "bad-parameters"),
            (b'{"parameters": {"model_configs": "hot"}}', "bad-parameters"),
        ],
    )
    def test_a_body_that_is_no_call_is_refused_in_words(self, key, body, code):
        assert refusal(ask("/echo", body, key=key)) == (400, code)
        assert rows() == []

    def test_a_body_over_the_limit_is_refused_in_the_shape_of_this_api(self, key):
        reply = ask("/echo", b" " * 22_000_000, key=key)
        assert refusal(reply) == (413, "body-too-large")


class TestFailures:
    def test_a_component_that_breaks_down_at_once_is_a_server_error(self, key, caplog):
        for stream in (False, True):
            Stage.script = (RuntimeError("secret detail"),)
            reply = ask("/stage", {"stream": stream}, key=key)
            assert refusal(reply) == (500, "component-failed")
            assert "secret detail" not in reply.json["message"]
        assert "secret detail" in caplog.text
        assert [call.status for call in rows()] == [CallStatus.FAILED, CallStatus.FAILED]

    def test_one_that_breaks_down_later_ends_its_stream_with_an_error(self, key, caplog):
        Stage.script = (create_output("text", "half"), RuntimeError("x"))
        reply = ask("/stage", {"stream": True}, key=key)
        assert reply.status == 200
        running, failed = reply.events
        assert running["content"][0]["text"] == {"info": "half"}
        assert (failed["status"], failed["is_completion"], failed["content"]) == ("error", True, [])
        assert (failed["code"], failed["message"]) == (
            "component-failed",
            "The component 'stage' broke down. The error has been recorded.",
        )
        (call,) = rows()
        assert (call.status, call.events, call.error) == (CallStatus.FAILED, 1, failed["message"])
        assert "broke down" in caplog.text

    def test_arguments_that_the_component_itself_refuses_are_a_bad_request(self, key):
        Stage.script = (ValueError("The size must be even."),)
        reply = ask("/stage", {}, key=key)
        assert refusal(reply) == (400, "bad-call")
        assert reply.json["message"] == "The size must be even."

    def test_what_is_no_json_is_an_error_and_not_a_broken_stream(self, key):
        fine = create_output("text", "fine")
        Stage.script = (fine, create_output("text", "x", raw_data={"it": object()}))
        assert ask("/stage", {"stream": True}, key=key).events[-1]["status"] == "error"
        assert refusal(ask("/stage", {}, key=key)) == (500, "component-failed")


class TestLimits:
    @pytest.mark.parametrize(
        ("limit", "whose"), [("MAX_CALLS", "This server"), ("MAX_CALLS_OF_A_KEY", "This key")]
    )
    def test_too_many_calls_at_once_are_asked_to_wait(self, key, monkeypatch, limit, whose):
        monkeypatch.setattr(component_calls, limit, 0)
        reply = ask("/echo", HI, key=key)
        assert refusal(reply) == (429, "too-many-calls")
        assert reply.json["message"].startswith(whose)
        assert reply.headers["retry-after"] == "1"

    def test_a_server_that_goes_down_takes_no_calls(self, key):
        DRAINING.set()
        try:
            reply = ask("/echo", HI, key=key)
        finally:
            DRAINING.clear()
        assert refusal(reply) == (503, "draining")
        assert reply.headers["retry-after"] == "5"
