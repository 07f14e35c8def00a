"""Components over HTTP: who may call what, what comes back, what is kept of it."""

from datetime import datetime, timedelta
import re
from typing import Any

from asgiref.sync import async_to_sync
from django.test import AsyncClient
from django.utils import timezone
import pytest

from copilot_admin.answering.open_run import start_draining, stop_draining
from copilot_admin.component_calls import call as component_calls
from copilot_admin.component_calls import records
from copilot_admin.models import CallStatus, ComponentCall, Copilot, Logging, Provider
from copilot_admin.storage.database_thread import DatabaseThread
from copilot_admin.telemetry.quiet_lines import QuietLines
from protocol.components import create_output
from tests.component_calls.component_http import (
    MOMENT,
    UUID,
    Reply,
    Stage,
    ask,
    rows,
    served,
    settle,
)
from tests.factories import make_key, make_published

__all__ = ["served"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]

HI = {"parameters": {"query": "hi"}}


@pytest.fixture
def key() -> str:
    """A key for everything."""
    return make_key()[1]


def uses(*pins: str, **config: Any) -> list[dict[str, Any]]:
    """The components of a copilot, as its document has them."""
    return [
        {"name": pin.partition("@")[0], "version": pin.partition("@")[2], "config": config}
        for pin in pins
    ]


def refusal(reply: Reply) -> tuple[int, str]:
    """Status and code of an error, which has exactly the shape of this API."""
    assert set(reply.json) == {"request_id", "code", "message"}
    assert reply.json["request_id"] == reply.headers["x-appbuilder-request-id"]
    assert len(reply.json["message"]) > 10
    assert reply.headers["cache-control"] == "no-store"
    return reply.status, reply.json["code"]


class TestAnswers:
    def test_a_call_without_streaming_is_one_merged_object(self, key):
        sent = {**HI["parameters"], "_sys_end_user_id": "ada", "_sys_conversation_id": "c-1"}
        reply = ask("/echo", {"parameters": sent}, key=key, X_Trace_Id="t-1")
        answer = reply.json
        (element,) = answer.pop("content")
        message_id = answer.pop("message_id")
        assert re.fullmatch(UUID, message_id)
        assert message_id == reply.headers["x-completion-id"]
        assert answer == {
            "request_id": reply.headers["x-appbuilder-request-id"],
            "conversation_id": "c-1",
            "trace_id": "t-1",
            "user_id": answer["user_id"],
            "end_user_id": "ada",
            "is_completion": True,
            "status": "done",
            "role": "tool",
        }
        assert re.fullmatch(r"key:\d+", answer["user_id"])
        event, metrics = element.pop("event"), element.pop("metrics")
        assert element == {
            "name": "",
            "visible_scope": "all",
            "raw_data": {},
            "usage": {},
            "type": "text",
            "text": {"info": "hi"},
        }
        assert re.fullmatch(UUID, event.pop("id"))
        assert re.fullmatch(MOMENT, event.pop("created_time"))
        assert event == {"status": "done", "name": "/component/echo/node/text"}
        assert re.fullmatch(MOMENT, metrics.pop("begin_time"))
        assert 0 <= metrics.pop("duration") < 60
        assert metrics.pop("begin_timestamp") <= metrics.pop("end_timestamp")
        assert metrics == {}
        assert (reply.status, reply.headers["cache-control"]) == (200, "no-store")
        assert (reply.headers["x-trace-id"], reply.headers["content-type"]) == (
            "t-1",
            "application/json",
        )

    def test_without_ids_of_the_caller_there_are_new_ones_and_no_end_user(self, key):
        reply = ask("/echo", HI, key=key)
        assert re.fullmatch(UUID, reply.json["conversation_id"])
        assert re.fullmatch(UUID, reply.json["request_id"])
        assert "end_user_id" not in reply.json

    @pytest.mark.parametrize(("sent", "echoed"), [("r-1", True), ("a b", False)])
    def test_a_sane_request_id_is_echoed(self, key, sent, echoed):
        reply = ask("/echo", HI, key=key, X_Appbuilder_Request_Id=sent)
        assert (reply.headers["x-appbuilder-request-id"] == sent) is echoed
        assert reply.json["request_id"] == reply.headers["x-appbuilder-request-id"]

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

    def test_a_thought_has_the_name_that_the_sdk_reads(self, key):
        Stage.script = (create_output("thought", "hm"),)
        (element,) = ask("/stage", {}, key=key).json["content"]
        assert element["type"] == "reasoning_content"
        assert element["event"]["name"] == "/component/stage/node/reasoning_content"

    def test_run_gives_what_the_programmatic_entry_returns_as_one_json_element(self, key):
        (element,) = ask("/echo?action=run", HI, key=key).json["content"]
        assert (element["type"], element["text"]) == ("json", {"data": '"hi"'})

    def test_run_in_a_stream_gives_its_pieces_as_they_come(self, key):
        first, second, closing = ask("/echo?action=run", {**HI, "stream": True}, key=key).events
        assert first["content"][0]["text"] == {"data": '"h"'}
        assert second["content"][0]["text"] == {"data": '"i"'}
        assert closing["is_completion"] is True

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

    @pytest.mark.parametrize(
        ("sent", "sentence"),
        [
            ({"temperature": "hot"}, "temperature: 'hot' is not of type 'number'"),
            ({"temperature": 3}, "temperature: 3 is greater than the maximum of 2"),
            ({"stream": "yes"}, "stream: 'yes' is not of type 'boolean'"),
        ],
    )
    def test_what_run_cannot_take_is_named(self, key, sent, sentence):
        reply = ask("/echo?action=run", {"parameters": {"query": "x", **sent}}, key=key)
        assert refusal(reply) == (400, "bad-parameters")
        assert reply.json["message"] == sentence

    def test_tool_eval_has_no_such_arguments(self, key):
        reply = ask("/echo", {"parameters": {"query": "x", "temperature": 0}}, key=key)
        assert reply.json["message"].startswith("echo has no parameter 'temperature'.")

    def test_the_body_is_spoken_of_by_names_too(self, key):
        sent = {"stream": "yes", "parameters": {"_sys_chat_history": [{"role": "x"}]}}
        message = ask("/echo", sent, key=key).json["message"]
        assert "$" not in message
        assert "stream: 'yes' is not of type 'boolean'" in message
        assert "_sys_chat_history[0]" in message

    def test_metrics_carry_the_names_of_the_source_too(self, key):
        (element,) = ask("/echo", HI, key=key).json["content"]
        metrics = element["metrics"]
        begin = datetime.fromisoformat(metrics["begin_time"]).timestamp()
        assert metrics["begin_timestamp"] == pytest.approx(begin, abs=1e-5)
        took = metrics["end_timestamp"] - metrics["begin_timestamp"]
        assert took == pytest.approx(metrics["duration"], abs=0.001)

    def test_what_a_component_says_of_its_times_is_kept(self, key):
        times = {"begin_timestamp": 1, "end_timestamp": 2}
        Stage.script = (create_output("text", "x", metrics=times),)
        (element,) = ask("/stage", {"parameters": {}}, key=key).json["content"]
        assert times.items() <= element["metrics"].items()

    def test_usage_may_be_a_list(self, key):
        """One object on the wire, as the SDK's models want it; with each model beside the sum."""
        small, large = (
            {"prompt_tokens": 5, "completion_tokens": n, "total_tokens": 5 + n, "name": name}
            for n, name in ((1, "small"), (2, "large"))
        )
        Stage.script = (create_output("text", "x", usage=[small, large]),)
        for stream in (False, True):
            reply = ask("/stage", {"parameters": {}, "stream": stream}, key=key)
            answer = reply.events[0] if stream else reply.json
            usage = answer["content"][0]["usage"]
            models = [
                {("model_name" if key == "name" else key): value for key, value in one.items()}
                for one in (small, large)
            ]
            assert usage == {
                "prompt_tokens": 10,
                "completion_tokens": 3,
                "total_tokens": 13,
                "name": "small, large",
                "nodes": [{"node_id": "stage", "models_usage": models}],
            }
        assert rows()[-1].usage == [small, large]

    @pytest.mark.parametrize("usage", [[], None, [{"total_tokens": 3, "name": "small"}]])
    def test_a_list_of_one_usage_is_that_one(self, key, usage):
        Stage.script = (create_output("text", "x", usage=usage),)
        (element,) = ask("/stage", {"parameters": {}}, key=key).json["content"]
        assert element["usage"] == (usage[0] if usage else {})

    def test_tool_eval_is_the_action_without_one(self, key):
        assert ask("/echo?action=tool_eval", HI, key=key).words == "hi"


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

    def test_run_of_a_version(self, key):
        assert ask("/echo/version/v1?action=run", HI, key=key).status == 200

    def test_an_unknown_version_is_not_found(self, key):
        reply = ask("/echo/version/v9", HI, key=key)
        assert refusal(reply) == (404, "unknown-version")
        assert reply.json["message"].endswith("It has: v1, v2.")

    @pytest.mark.parametrize("action", ["fly", "", "TOOL_EVAL"])
    def test_an_unknown_action_is_a_bad_request(self, key, action):
        reply = ask(f"/echo?action={action}", HI, key=key)
        assert refusal(reply) == (400, "unknown-action")
        assert reply.json["message"].endswith("tool_eval, run, manifest.")


class TestCatalogue:
    def test_it_lists_every_component_with_its_versions_and_manifests(self, key):
        reply = ask("", key=key)
        assert [(one["name"], one["versions"]) for one in reply.json] == [
            ("asker", ["v1"]),
            ("echo", ["v1", "v2"]),
            ("needy", ["v1"]),
            ("pair", ["v1"]),
            ("stage", ["v1"]),
        ]
        assert reply.json[1] == {
            "name": "echo",
            "version": "v2",
            "versions": ["v1", "v2"],
            "description": "Says a text again, in two pieces.",
            "manifests": [
                {
                    "name": "echo",
                    "description": "Says a text again, in two pieces.",
                    "parameters": {
                        "type": "object",
                        "properties": {"query": {"description": "What to say.", "type": "string"}},
                        "required": ["query"],
                    },
                }
            ],
        }

    def test_a_scoped_key_sees_what_it_may_call(self):
        pinned = make_published(components=uses("echo@v1", "pair@latest"))
        other = make_published(components=uses("stage@v1"))
        assert other.live is not None
        _, key = make_key(copilots=(pinned,))
        listed = [(one["name"], one["versions"]) for one in ask("", key=key).json]
        assert listed == [("echo", ["v1"]), ("pair", ["v1"])]

    def test_a_manifest_can_be_read_alone_in_two_ways(self, key):
        read = ask("/echo/version/v1", key=key)
        asked = ask("/echo/version/v1?action=manifest", b"", key=key)
        assert read.json == asked.json
        assert (read.json["name"], read.json["version"]) == ("echo", "v1")
        assert read.json["manifests"][0]["description"] == "Says a text again."
        assert ask("/echo?action=manifest", b"", key=key).json["version"] == "v2"
        assert rows() == []

    def test_an_unknown_manifest_is_not_found(self, key):
        assert refusal(ask("/nothing/version/v1", key=key)) == (404, "unknown-component")
        assert refusal(ask("/echo/version/v9", key=key)) == (404, "unknown-version")


class TestKeys:
    @pytest.mark.parametrize(
        ("path", "body"),
        [("", None), ("/echo/version/v1", None), ("/echo", HI), ("/echo?action=manifest", HI)],
    )
    def test_without_a_key_nothing_is_said(self, path, body):
        make_published(components=uses("echo@v1"))
        assert refusal(ask(path, body)) == (401, "unauthorized")
        assert refusal(ask(path, body, key="cak_wrong")) == (401, "unauthorized")

    def test_an_unknown_component_is_hidden_from_strangers(self):
        assert refusal(ask("/nothing", b"no json")) == (401, "unauthorized")

    def test_an_expired_key_is_refused(self):
        _, key = make_key(expires_at=timezone.now() - timedelta(seconds=1))
        assert refusal(ask("/echo", HI, key=key)) == (401, "unauthorized")

    def test_a_key_may_come_in_its_other_header(self, key):
        assert ask("/echo", HI, X_API_Key=key).words == "hi"

    def test_a_scoped_key_calls_what_its_copilot_has_published(self):
        copilot = make_published(slug="news", components=uses("stage@v1", size=3))
        _, key = make_key(copilots=(copilot,))
        assert ask("/stage", {}, key=key).status == 200
        assert Stage.seen["config"] == {"size": 3}
        assert rows()[0].copilot_id == copilot.pk

    def test_a_component_of_the_draft_alone_is_forbidden(self):
        copilot = make_published()
        copilot.components = uses("echo@v1")
        copilot.save()
        _, key = make_key(copilots=(copilot,))
        reply = ask("/echo", HI, key=key)
        assert refusal(reply) == (403, "forbidden")
        assert refusal(ask("/echo/version/v1", key=key)) == (403, "forbidden")
        assert rows() == []

    def test_a_scoped_key_whose_copilots_are_off_may_call_nothing(self):
        copilot = make_published(components=uses("echo@v1"), enabled=False)
        _, key = make_key(copilots=(copilot,))
        assert refusal(ask("/echo", HI, key=key)) == (403, "forbidden")
        assert ask("", key=key).json == []

    def test_a_pinned_version_is_the_newest_to_a_scoped_key(self):
        copilot = make_published(components=uses("echo@v1"))
        _, key = make_key(copilots=(copilot,))
        assert len(ask("/echo", {**HI, "stream": True}, key=key).events) == 2
        assert ask("/echo/version/v1", HI, key=key).words == "hi"
        reply = ask("/echo/version/v2", HI, key=key)
        assert refusal(reply) == (403, "forbidden")
        assert "version 'v2'" in reply.json["message"]

    def test_the_first_copilot_in_the_order_of_slugs_lends_its_settings(self):
        second = make_published(slug="b", components=uses("stage@v1", size=2))
        first = make_published(slug="a", components=uses("stage@v1", size=1))
        without = make_published(slug="0")
        _, key = make_key(copilots=(second, first, without))
        ask("/stage", {}, key=key)
        assert Stage.seen["config"] == {"size": 1}
        ask("/stage", {"parameters": {"_sys_copilot": "b"}}, key=key)
        assert Stage.seen["config"] == {"size": 2}
        reply = ask("/stage", {"parameters": {"_sys_copilot": "0"}}, key=key)
        assert refusal(reply) == (403, "forbidden")

    def test_a_scoped_key_cannot_borrow_from_an_open_copilot_of_others(self):
        mine = make_published(components=uses("echo@v1"))
        make_published(slug="open", components=uses("echo@v1"))
        _, key = make_key(copilots=(mine,))
        body = {"parameters": {"query": "hi", "_sys_copilot": "open"}}
        assert refusal(ask("/echo", body, key=key)) == (403, "forbidden")

    def test_an_unknown_copilot_is_not_found(self, key):
        body = {"parameters": {"query": "hi", "_sys_copilot": "nobody"}}
        assert refusal(ask("/echo", body, key=key)) == (404, "not-found")

    def test_a_key_for_everything_gets_the_settings_of_the_copilot_that_it_names(self, key):
        make_published(slug="news", components=uses("stage@v1", size=3))
        make_published(slug="bare")
        for slug, config in (("news", {"size": 3}), ("bare", {})):
            ask("/stage", {"parameters": {"_sys_copilot": slug}}, key=key)
            assert Stage.seen["config"] == config
        make_published(slug="pinned", components=uses("echo@v1"))
        body = {"parameters": {"query": "hi", "_sys_copilot": "pinned"}, "stream": True}
        assert len(ask("/echo", body, key=key).events) == 2
        assert len(ask("/echo/version/v2", body, key=key).events) == 3


class TestModel:
    def test_without_a_copilot_there_is_no_model_which_the_caller_is_told(self, key):
        reply = ask("/asker", HI, key=key)
        assert refusal(reply) == (400, "bad-call")
        assert reply.json["message"].startswith("There is no model to ask.")

    @pytest.mark.parametrize("action", ["tool_eval", "run"])
    def test_the_copilot_that_is_named_lends_its_model(self, key, action):
        make_published(slug="news")
        body = {"parameters": {"query": "hi", "_sys_copilot": "news"}}
        reply = ask(f"/asker?action={action}", body, key=key)
        assert reply.status == 200
        (call,) = rows()
        assert (call.status, call.error) == (CallStatus.DONE, "")

    def test_the_copilot_of_a_scoped_key_lends_its_model_and_usage_is_kept(self):
        copilot = make_published(components=uses("asker@v1"))
        _, key = make_key(copilots=(copilot,))
        (element,) = ask("/asker", HI, key=key).json["content"]
        assert element["usage"]["name"] == "rehearsal"
        (call,) = rows()
        assert call.usage == [element["usage"]]


class TestUnreadyCopilots:
    @pytest.fixture(autouse=True)
    def _unready(self, served: object) -> None:
        copilot = make_published(slug="news", components=uses("echo@v1"))
        Provider.objects.filter(pk=copilot.provider_id).update(
            kind="unheard-of", updated_at=timezone.now()
        )

    def test_a_component_that_needs_its_model_is_told_why_there_is_none(self, key):
        body = {"parameters": {"query": "hi", "_sys_copilot": "news"}}
        reply = ask("/needy", body, key=key)
        assert refusal(reply) == (400, "not-ready")
        assert "unheard-of" in reply.json["message"]

    def test_others_are_called_without_it(self, key):
        body = {"parameters": {"query": "hi", "_sys_copilot": "news"}}
        assert ask("/echo", body, key=key).words == "hi"

    def test_its_own_key_is_told_why_it_may_call_nothing(self):
        _, key = make_key(copilots=tuple(Copilot.objects.all()))
        reply = ask("/echo", HI, key=key)
        assert refusal(reply) == (403, "forbidden")
        assert "its copilot 'news' is not ready. " in reply.json["message"]


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

    def test_the_question_does_not_fill_two_holes(self, key):
        reply = ask("/pair", {"parameters": {"_sys_origin_query": "x"}}, key=key)
        assert refusal(reply) == (400, "bad-call")
        both = {"_sys_origin_query": "x", "second": "y"}
        assert ask("/pair", {"parameters": both}, key=key).words == "x y"

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            (b"", "malformed-json"),
            (b"{", "malformed-json"),
            (b'{"parameters": {"rows": [' + b"0," * 750_000 + b"0]}}", "too-many-tokens"),
            (b'{"parameters": {"query": NaN}}', "not-a-number"),
            (b"\xff", "not-utf8"),
            (b"[]", "bad-parameters"),
            (b'"x"', "bad-parameters"),
            (b'{"stream": "yes"}', "bad-parameters"),
            (b'{"parameters": []}', "bad-parameters"),
            (
                b'{"parameters": {%b}}' % b",".join(b'"%d": 1' % n for n in range(1001)),
                "bad-parameters",
            ),
            (b'{"parameters": {"_sys_chat_history": [{"role": "x"}]}}', "bad-parameters"),
            (b'{"parameters": {"_sys_origin_query": 1}}', "bad-parameters"),
            (b'{"parameters": {"_sys_copilot": 1}}', "bad-parameters"),
            (b'{"parameters": {"model_configs": "hot"}}', "bad-parameters"),
        ],
    )
    def test_a_body_that_is_no_call_is_refused_in_words(self, key, body, code):
        assert refusal(ask("/echo", body, key=key)) == (400, code)
        assert rows() == []

    def test_a_long_body_is_read_beside_the_event_loop(self, key):
        long = "x" * 300_000
        assert ask("/echo", {"parameters": {"query": long}}, key=key).words == long

    def test_a_body_over_the_limit_is_refused_in_the_shape_of_this_api(self, key):
        reply = ask("/echo", b" " * 22_000_000, key=key)
        assert refusal(reply) == (413, "body-too-large")


def test_a_call_for_another_host_is_refused_in_the_shape_of_this_api(key):
    assert refusal(ask("/echo", HI, key=key, Host="evil.test"))[1] == "unknown-host"


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

    @pytest.mark.parametrize(
        "path", ["/", "/echo/", "/echo/versions/v1", "/echo/version/", "/echo/version/v1/more"]
    )
    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_another_address_has_the_same_kind_of_error(self, key, path, method):
        assert refusal(ask(path, {}, key=key, method=method)) == (404, "unknown-address")


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
        assert (failed["status"], failed["is_completion"], failed["content"]) == (
            "error",
            True,
            [],
        )
        assert (failed["code"], failed["message"]) == (
            "component-failed",
            "The component 'stage' broke down. The error has been recorded.",
        )
        (call,) = rows()
        assert (call.status, call.events, call.error) == (CallStatus.FAILED, 1, failed["message"])
        assert "broke down" in caplog.text

    def test_one_that_breaks_down_later_without_streaming_is_a_server_error(self, key, caplog):
        Stage.script = (create_output("text", "half"), RuntimeError("x"))
        assert refusal(ask("/stage", {}, key=key)) == (500, "component-failed")
        assert caplog.records

    def test_arguments_that_the_component_itself_refuses_are_a_bad_request(self, key):
        Stage.script = (ValueError("The size must be even."),)
        reply = ask("/stage", {}, key=key)
        assert refusal(reply) == (400, "bad-call")
        assert reply.json["message"] == "The size must be even."

    def test_a_refusal_in_the_stream_has_the_code_of_a_refusal(self, key):
        Stage.script = (create_output("text", "half"), ValueError("The size must be even."))
        last = ask("/stage", {"stream": True}, key=key).events[-1]
        assert (last["code"], last["message"]) == ("bad-call", "The size must be even.")

    def test_what_is_no_json_is_an_error_and_not_a_broken_stream(self, key):
        fine = create_output("text", "fine")
        Stage.script = (fine, create_output("text", "x", raw_data={"it": object()}))
        assert ask("/stage", {"stream": True}, key=key).events[-1]["status"] == "error"
        assert refusal(ask("/stage", {}, key=key)) == (500, "component-failed")

    @pytest.mark.parametrize("stream", [False, True])
    def test_what_has_no_form_in_json_or_utf_8_is_said_in_what_has(self, key, stream):
        odd = {"n": [float("nan"), 1.5, {"i": float("-inf")}]}
        Stage.script = (create_output("text", "a\ud800\0\u2028", raw_data=odd, metrics=odd),)
        reply = ask("/stage", {"stream": stream}, key=key)
        (element,) = (reply.events[0] if stream else reply.json)["content"]
        assert element["text"] == {"info": "a\ud800\0\u2028"}
        assert element["raw_data"] == {"n": [None, 1.5, {"i": None}]}
        assert element["metrics"]["n"] == [None, 1.5, {"i": None}]

    def test_a_bug_of_ours_is_said_without_its_details(self, key, monkeypatch, caplog):
        async def broken(*args: Any, **kwargs: Any) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(component_calls, "read_files", broken)
        reply = ask("/stage", {}, key=key)
        assert refusal(reply) == (500, "component-failed")
        (call,) = rows()
        assert (call.status, call.error) == (CallStatus.FAILED, reply.json["message"])
        assert "ZeroDivisionError" in caplog.text


class TestLimits:
    @pytest.mark.parametrize(
        ("limit", "whose"), [("MOST_CALLS", "This server"), ("MOST_CALLS_OF_A_KEY", "This key")]
    )
    def test_too_many_calls_at_once_are_asked_to_wait(self, key, monkeypatch, limit, whose):
        monkeypatch.setattr(component_calls, limit, 0)
        reply = ask("/echo", HI, key=key)
        assert refusal(reply) == (429, "too-many-calls")
        assert reply.json["message"].startswith(whose)
        assert reply.headers["retry-after"] == "1"

    def test_the_place_of_a_call_is_free_when_it_has_ended(self, key, monkeypatch):
        monkeypatch.setattr(component_calls, "MOST_CALLS", 1)
        assert [ask("/echo", HI, key=key).status for _ in range(3)] == [200, 200, 200]
        assert not component_calls.CALLS

    def test_a_server_that_goes_down_takes_no_calls(self, key):
        start_draining()
        try:
            reply = ask("/echo", HI, key=key)
        finally:
            stop_draining()
        assert refusal(reply) == (503, "draining")
        assert reply.headers["retry-after"] == "5"


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
        assert str(call) == "echo v2 done"

    def test_the_action_stands_in_the_row(self, key):
        ask("/echo/version/v1?action=run", HI, key=key)
        (call,) = rows()
        assert (call.version, call.action) == ("v1", "run")

    @pytest.mark.parametrize(
        ("logging", "kept"),
        [
            (Logging.EVERYTHING, [{"query": "hi"}]),
            (Logging.METADATA, [None]),
            (Logging.NOTHING, []),
        ],
    )
    def test_the_lender_decides_what_is_kept(self, logging, kept):
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

    def test_of_very_long_arguments_the_beginning_is_kept(self, key):
        ask("/echo", {"parameters": {"query": "x" * 60_000}}, key=key)
        (call,) = rows()
        assert call.arguments == '{"query": "' + "x" * 1_989 + " …"

    def test_a_row_that_cannot_be_stored_keeps_nobody_waiting(self, key, monkeypatch, caplog):
        full = DatabaseThread("full", capacity=0)
        monkeypatch.setattr(records, "WRITER", full)
        monkeypatch.setattr(records, "UNRECORDED", QuietLines(records.logger))
        assert ask("/echo", HI, key=key).words == "hi"
        assert rows() == []
        assert "a call of echo was not recorded" in caplog.text

    def test_a_row_that_the_database_refuses_is_logged(self, key, monkeypatch, caplog):
        def broken(row: ComponentCall, **options: Any) -> None:
            raise ValueError("no such thing")

        monkeypatch.setattr(ComponentCall, "save", broken)
        assert ask("/echo", HI, key=key).words == "hi"
        assert rows() == []
        assert "a call of a component was not recorded" in caplog.text


@pytest.mark.parametrize("sent", ["r-1", None])
def test_without_an_edge_a_request_still_has_its_id(key, sent):
    headers = {"X-API-Key": key} | ({"X-Appbuilder-Request-Id": sent} if sent else {})

    async def post() -> Any:
        path = "/v2/components/echo"
        return await AsyncClient().post(path, HI, content_type="application/json", headers=headers)

    answer = async_to_sync(post)().json()
    settle()
    assert (answer["request_id"] == sent) is (sent is not None)
    assert len(answer["request_id"]) == (3 if sent else 36)
