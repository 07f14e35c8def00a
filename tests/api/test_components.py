"""Components over HTTP: what comes back, in which version, by which method."""

import re
from typing import Any

import pytest

from protocol.components import create_output
from tests.api.component_keys import HI, key, refusal
from tests.component_calls.component_http import MOMENT, UUID, Stage, ask, rows, served

__all__ = ["key", "served"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]


class TestAnswers:
    def test_a_call_without_streaming_is_one_merged_object(self, key):
        sent = {**HI["parameters"], "_sys_end_user_id": "ada", "_sys_conversation_id": "c-1"}
        reply = ask("/echo", {"parameters": sent}, key=key, X_Trace_Id="t-1")
        answer = reply.json
        (element,) = answer.pop("content")
        event, metrics = element.pop("event"), element.pop("metrics")
        assert re.fullmatch(r"key:\d+", answer.pop("user_id"))
        end = {"is_completion": True, "status": "done", "role": "tool"}
        assert answer == {
            "request_id": reply.headers["x-appbuilder-request-id"],
            "message_id": reply.headers["x-completion-id"],
            "trace_id": "t-1",
            "conversation_id": "c-1",
            "end_user_id": "ada",
            **end,
        }
        empty: dict[str, Any] = {"name": "", "raw_data": {}, "usage": {}}
        shown = {"visible_scope": "all", "type": "text", "text": {"info": "hi"}}
        assert element == {**empty, **shown}
        assert re.fullmatch(UUID, event.pop("id"))
        assert re.fullmatch(MOMENT, event.pop("created_time"))
        assert event == {"status": "done", "name": "/component/echo/node/text"}
        assert re.fullmatch(MOMENT, metrics["begin_time"])
        assert 0 <= metrics["duration"] < 60
        assert metrics["begin_timestamp"] <= metrics["end_timestamp"]
        names = ("cache-control", "x-trace-id", "content-type")
        headers = [reply.headers[name] for name in names]
        assert (reply.status, headers) == (200, ["no-store", "t-1", "application/json"])

    def test_a_stream_of_two_pieces_has_two_running_events_and_a_closing_one(self, key):
        """Vector D-3 10."""
        whole = ask("/echo/version/v2", HI, key=key)
        reply = ask("/echo/version/v2", {**HI, "stream": True}, key=key)
        first, second, last = reply.events
        assert [one["status"] for one in reply.events] == ["running", "running", "done"]
        assert [one["is_completion"] for one in reply.events] == [False, False, True]
        assert last["content"] == []
        assert reply.words == whole.words == "hi"
        assert len({one["message_id"] for one in reply.events}) == 1
        assert first["content"][0]["event"]["id"] == second["content"][0]["event"]["id"]
        assert first["content"][0]["event"]["status"] == "running"
        names = ("content-type", "cache-control", "x-accel-buffering")
        assert [reply.headers[name] for name in names] == [
            "text/event-stream; charset=utf-8",
            "no-store, no-transform",
            "no",
        ]

    def test_a_component_that_gives_nothing_has_an_empty_answer(self, key):
        assert ask("/stage", {}, key=key).json["content"] == []
        (closing,) = ask("/stage", {"stream": True}, key=key).events
        assert (closing["status"], closing["content"]) == ("done", [])

    def test_the_role_usage_and_metrics_of_a_component_are_its_own(self, key):
        usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "name": "m"}
        output = create_output(
            "text", "hm", role="assistant", usage=usage, metrics={"duration": 7}, name="answer"
        )
        Stage.script = (output,)
        for answer in (
            ask("/stage", {}, key=key).json,
            ask("/stage", {"stream": True}, key=key).events[0],
        ):
            (element,) = answer["content"]
            assert answer["role"] == "assistant"
            assert (element["usage"], element["metrics"]["duration"]) == (usage, 7)
        assert ask("/stage", {"stream": True}, key=key).events[-1]["role"] == "assistant"

    def test_run_gives_what_the_programmatic_entry_returns_as_one_json_element(self, key):
        (element,) = ask("/echo?action=run", HI, key=key).json["content"]
        assert (element["type"], element["text"]) == ("json", {"data": '"hi"'})

    def test_run_takes_stream_and_temperature_as_the_source_has_them(self, key):
        """`run(message, stream, temperature)`: they may stand among the parameters."""
        Stage.script = (create_output("text", "a"), create_output("text", "b"))
        sent = {"stream": True, "temperature": 0.3, "model_configs": {"top_p": 0.9}}
        reply = ask("/stage?action=run", {"parameters": sent}, key=key)
        pieces = [one["text"]["data"] for event in reply.events for one in event["content"]]
        assert pieces == ['"a"', '"b"']
        assert Stage.seen["model_configs"] == {"top_p": 0.9, "temperature": 0.3}
        (whole,) = ask("/stage?action=run", {"parameters": {"stream": False}}, key=key).json[
            "content"
        ]
        assert whole["text"] == {"data": '"ab"'}

    @pytest.mark.parametrize("sent", [{"temperature": "hot"}, {"temperature": 3}, {"stream": "x"}])
    def test_what_run_cannot_take_is_named(self, key, sent):
        reply = ask("/echo?action=run", {"parameters": {"query": "x", **sent}}, key=key)
        assert refusal(reply) == (400, "bad-parameters")
        assert reply.json["message"].startswith(f"{next(iter(sent))}: ")

    def test_usage_may_be_a_list(self, key):
        """One object on the wire, as the SDK's models want it; with each model beside the sum."""
        small, large = (
            {"prompt_tokens": 5, "completion_tokens": n, "total_tokens": 5 + n, "name": name}
            for n, name in ((1, "small"), (2, "large"))
        )
        Stage.script = (create_output("text", "x", usage=[small, large]),)
        for stream in (False, True):
            reply = ask("/stage", {"parameters": {}, "stream": stream}, key=key)
            usage = (reply.events[0] if stream else reply.json)["content"][0]["usage"]
            (node,) = usage.pop("nodes")
            assert (usage["total_tokens"], usage["name"]) == (13, "small, large")
            assert node["node_id"] == "stage"
            assert [one["model_name"] for one in node["models_usage"]] == ["small", "large"]
        assert rows()[-1].usage == [small, large]


class TestVersions:
    """Vector D-3 8: which version an address means."""

    @pytest.mark.parametrize(
        ("path", "pieces"),
        [
            ("/echo", 2),
            ("/echo/version/latest", 2),
            ("/echo/version/v2", 2),
            ("/echo/version/2", 2),
            ("/echo/version/v1", 1),
            ("/echo/version/1", 1),
        ],
    )
    def test_two_versions_live_side_by_side(self, key, path, pieces):
        reply = ask(path, {**HI, "stream": True}, key=key)
        assert len(reply.events) == pieces + 1
        assert reply.words == "hi"

    def test_an_unknown_version_is_not_found(self, key):
        reply = ask("/echo/version/v9", HI, key=key)
        assert refusal(reply) == (404, "unknown-version")
        assert reply.json["message"].endswith("It has: v1, v2.")

    @pytest.mark.parametrize("action", ["fly", "", "TOOL_EVAL"])
    def test_an_unknown_action_is_a_bad_request(self, key, action):
        reply = ask(f"/echo?action={action}", HI, key=key)
        assert refusal(reply) == (400, "unknown-action")
        assert reply.json["message"].endswith("tool_eval, run, manifest.")


class TestMethods:
    @pytest.mark.parametrize(
        ("path", "method", "allowed"),
        [
            ("", "POST", "GET"),
            ("", "DELETE", "GET"),
            ("/echo", "GET", "POST"),
            ("/echo", "PUT", "POST"),
            ("/echo/version/v1", "PATCH", "GET, POST"),
            ("/echo/version/v1", "OPTIONS", "GET, POST"),
        ],
    )
    def test_another_method_is_refused(self, key, path, method, allowed):
        reply = ask(path, key=key, method=method)
        assert refusal(reply) == (405, "wrong-method")
        assert reply.headers["allow"] == allowed
