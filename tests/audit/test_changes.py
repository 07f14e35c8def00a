"""An entry tells what differs, in bounds, and no secret by whatever name it comes."""

from datetime import UTC, date, datetime
from decimal import Decimal
import hashlib
import json
from math import inf
from typing import Any

from django.utils.translation import gettext_lazy
import pytest

from copilot_admin.audit.recording import Secret, changes, snapshot, to_json
from copilot_admin.config import logs
from copilot_admin.copilots.providers import set_api_key
from copilot_admin.models import EndpointKey
from tests.factories import make_copilot, make_provider, make_user


def told(before: dict[str, Any], after: dict[str, Any]) -> tuple[Any, Any]:
    was, now = changes(before, after)
    return json.loads(was), json.loads(now)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {"api_key": "sk-1"}, ({}, {"api_key": "set"})),
        ({}, {"api_key": ""}, ({}, {"api_key": "not set"})),
        ({"x": Secret(b"1")}, {"x": Secret(b"2")}, ({"x": "set"}, {"x": "changed"})),
        ({"x": Secret(b"1")}, {"x": Secret(b"1")}, ({}, {})),
        ({"x": Secret("")}, {"x": Secret("2")}, ({"x": "not set"}, {"x": "set"})),
        ({"x": Secret("1")}, {"x": Secret("")}, ({"x": "set"}, {"x": "not set"})),
        ({"x": Secret("1")}, {}, ({"x": "set"}, {})),
        (
            {},
            {"headers": {"X-Api-Key": "v", "a": 1}},
            ({}, {"headers": {"X-Api-Key": "set", "a": 1}}),
        ),
        ({}, {"rows": [{"password": ""}]}, ({}, {"rows": [{"password": "not set"}]})),
        ({}, {"api_key_env": "COPILOT_KEY_X"}, ({}, {"api_key_env": "COPILOT_KEY_X"})),
        ({}, {"max_tokens": 5}, ({}, {"max_tokens": 5})),
    ],
)
def test_secrets_are_shown_as_set_or_changed(before: Any, after: Any, expected: Any) -> None:
    assert told(before, after) == expected


def test_known_secrets_and_url_signatures_are_hidden() -> None:
    logs.hide("canary-of-the-audit-trail")
    _, now = told(
        {}, {"url": "https://u:p@host/?sig=abc", "text": ["x canary-of-the-audit-trail", None]}
    )
    assert "canary" not in str(now)
    assert "abc" not in now["url"]
    assert now["text"] == ["x [hidden]", None]


def test_the_changed_part_of_a_long_text_is_kept_with_a_hash_of_the_whole() -> None:
    before, after = "a" * 3000 + "old" + "z" * 3000, "a" * 3000 + "newer" + "z" * 3000
    was, now = told({"prompt": before}, {"prompt": after})
    assert was["prompt"] == {
        "characters": 6003,
        "sha256": hashlib.sha256(before.encode()).hexdigest(),
        "from": 2900,
        "part": "a" * 100 + "old" + "z" * 100,
    }
    assert now["prompt"]["part"] == "a" * 100 + "newer" + "z" * 100


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        (inf, "inf"),
        (datetime(2026, 11, 22, tzinfo=UTC), "2026-11-22T00:00:00+00:00"),
        (date(2026, 11, 22), "2026-11-22"),
        (Decimal("0.10"), "0.10"),
        (Decimal("0E-12"), "0.000000000000"),
        (gettext_lazy("Start"), "Start"),
        ({1: (2, {3})}, {"1": [2, [3]]}),
        (ValueError("x"), "x"),
    ],
)
def test_any_value_becomes_json(value: Any, expected: Any) -> None:
    assert to_json(value) == expected


@pytest.mark.django_db
def test_a_snapshot_names_related_rows_and_hides_secrets() -> None:
    provider = make_provider(name="Bank", kind="openai_compatible", base_url="https://x.example")
    set_api_key(provider, "sk-canary-0123456789")
    copilot = make_copilot(provider=provider, slug="macro", system_prompt="Be brief.")
    key, text = EndpointKey.issue("Desk")
    key.limit_to([copilot])
    user = make_user()
    user.set_password("canary password")
    _, now = told({}, {"a": 1, **snapshot(provider)})
    assert (now["api_key_cipher"], now["name"]) == ("set", "Bank")
    assert json.loads(changes({}, snapshot(copilot))[1])["provider"] == f"Bank ({provider.pk})"
    facts = json.loads(changes({}, snapshot(key))[1])
    assert (facts["digest"], facts["copilots"]) == ("set", [f"{copilot} ({copilot.pk})"])
    written = "".join(changes({}, snapshot(one))[1] for one in (provider, copilot, key, user))
    for secret in ("sk-canary", text, key.digest, user.password, "argon2"):
        assert secret not in written
    assert "canary" not in repr(snapshot(user))
