"""Who may call which component over HTTP, and with which copilot's model."""

import pytest

from copilot_admin.models import CallStatus
from tests.api.component_keys import HI, key, refusal, uses
from tests.component_calls.component_http import Stage, ask, rows, served
from tests.factories import make_key, make_published

__all__ = ["key", "served"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]


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

    def test_a_scoped_key_cannot_borrow_from_an_open_copilot_of_others(self):
        mine = make_published(components=uses("echo@v1"))
        make_published(slug="open", components=uses("echo@v1"))
        _, key = make_key(copilots=(mine,))
        body = {"parameters": {"query": "hi", "_sys_copilot": "open"}}
        assert refusal(ask("/echo", body, key=key)) == (403, "forbidden")

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
        assert element["usage"]["name"] == "demo"
        (call,) = rows()
        assert call.usage == [element["usage"]]
