"""Filters of the transcript list: what they find, by which index, and what they reject."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone
import pytest

from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import (
    Assignment,
    Conversation,
    Copilot,
    Criterion,
    EndUser,
    Outcome,
    ReviewQueue,
    Turn,
)
from copilot_admin.transcripts import filters
from copilot_admin.transcripts.end_users import save_end_user
from copilot_admin.transcripts.feedback import SubmittedFeedback, store_turn_feedback
from copilot_admin.transcripts.filters import FILTERS, read_filters
from copilot_admin.transcripts.verdicts import save_verdict
from tests.databases import IS_POSTGRESQL
from tests.factories import make_copilot, make_key, make_user, make_version
from tests.transcripts.store.journaling import Client, ending

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def find(**given: str) -> set[str]:
    """Return the titles of the conversations that pass; names have hyphens in URLs."""
    read = read_filters({name.replace("_", "-"): value for name, value in given.items()})
    assert not read.errors
    return set(read.apply(Conversation.objects.all()).values_list("title", flat=True))


def change(title: str, **changes: Any) -> None:
    assert Conversation.objects.filter(title=title).update(**changes) == 1


def test_a_copilot_is_found_by_slug_and_by_name_in_any_case():
    Client(version=make_version(slug="a", name="Погода ИЗ окна")).ask("A").answer("-")
    Client(version=make_version(slug="b", name="a")).ask("B").answer("-")
    Client(version=make_version(slug="c")).ask("C").answer("-")
    assert find(copilot="погода из ОКНА") == {"A"}
    assert find(copilot="a") == {"A", "B"}  # a slug and a name
    assert find(copilot="b,c") == {"B", "C"}
    assert find(copilot=str(Copilot.objects.get(slug="c").pk)) == {"C"}


def test_playground_conversations_are_left_out_unless_the_filter_asks_for_them():
    key, _ = make_key()
    for principal in ("anonymous", f"key:{key.pk}", "playground:1"):
        Client(principal=principal).ask(principal).answer("-")
    assert find() == {"anonymous", f"key:{key.pk}"}
    assert find(caller=f"key:{key.pk}") == {f"key:{key.pk}"}
    assert find(playground="with") == {"anonymous", f"key:{key.pk}", "playground:1"}
    assert find(playground="only") == {"playground:1"}


def test_a_period_includes_its_first_and_its_last_day():
    for title, at in (
        ("before", datetime(2026, 11, 19, 23, 59, 59, tzinfo=UTC)),
        ("first", datetime(2026, 11, 20, tzinfo=UTC)),
        ("last", datetime(2026, 11, 21, 23, 59, 59, tzinfo=UTC)),
        ("after", datetime(2026, 11, 22, tzinfo=UTC)),
    ):
        Client().ask(title).answer("-")
        change(title, last_at=at)
    assert find(since="2026-11-20", until="2026-11-21") == {"first", "last"}
    assert find(since="0001-01-01", until="9999-12-31") == {"before", "first", "last", "after"}
    change("after", last_at=timezone.now())
    change("last", last_at=timezone.now() - timedelta(days=10))
    assert find(days="1") == {"after"}
    assert find(days="30") >= {"after", "last"}


def test_users_are_found_by_id_address_name_and_hash():
    ada = AskingUser(id="u-1", email="ada@b.example", name="Ada")
    Client(user=ada).ask("by ada").answer("-")
    Client(user=AskingUser(id="u-2", name="Ada")).ask("by another").answer("-")
    Client().ask("by nobody").answer("-")
    for text in ("u-1", "ADA@b.example", EndUser.objects.get(identifier="u-1").digest):
        assert find(user=text) == {"by ada"}
    assert find(user="Ada") == {"by ada", "by another"}
    assert dict(FILTERS["user"].field.choices()) == {"u-1": "Ada", "u-2": "Ada"}


def test_users_are_found_by_a_part_of_the_name_if_they_are_few(monkeypatch: pytest.MonkeyPatch):
    for name in ("Elif Demir", "Elif Kaya", "Ada"):
        Client(user=AskingUser(id=name[-5:], name=name)).ask(f"by {name}").answer("-")
    assert find(user="elif d") == {"by Elif Demir"}
    assert find(user="Elif") == {"by Elif Demir", "by Elif Kaya"}
    assert find(user="ada") == {"by Ada"}
    monkeypatch.setattr(filters, "MAX_SIMILAR_USERS", 1)
    assert read_filters({"user": "elif"}).errors
    assert find(user="kaya") == {"by Elif Kaya"}


@pytest.mark.parametrize("limit", [0, 100])
def test_rare_and_common_values_of_runs_are_found(monkeypatch: pytest.MonkeyPatch, limit: int):
    monkeypatch.setattr(filters, "MAX_LISTED_RUNS", limit)
    Client().ask("Asked").answer("-", ended=ending(error_code="no-model"))
    assert find(version="1", model="small-1", provider="Provider", error="no-model") == {"Asked"}
    for other in ({"version": "2"}, {"model": "small"}, {"provider": "P"}, {"error": "no"}):
        assert find(**other) == set()


@pytest.fixture
def values() -> dict[str, int]:
    """A conversation with everything that filters look for, one without, and ids of the first."""
    asked = Client(version=make_version(tags=["Desk"])).ask("with")
    conversation = asked.answer("-", ended=ending(Outcome.FAILED)).conversation
    Client().ask("without").answer("-")
    down = SubmittedFeedback.model_validate({"vote": "thumbs_down", "tags": ['50 % "off"']})
    store_turn_feedback(down, turn=Turn.objects.get(conversation=conversation))
    ada, label = make_user(username="ada"), Criterion.objects.create(name="Wrong")
    save_verdict(conversation, ada, rating="bad", marks={label.pk: 1})
    queue = ReviewQueue.objects.create(name="Week")
    Assignment.objects.create(queue=queue, conversation=conversation, place=1, reviewer=ada)
    flags = dict.fromkeys(("has_call", "has_branch", "has_file"), True)
    change("with", tokens=500, cost="0.5", n_unpriced=0, review_state="done", **flags)
    return {"label": label.pk, "queue": queue.pk, "conversation": conversation.pk}


FOUND = (
    *(("tag", "Desk"), ("outcome", "failed"), ("outcome", "any-failed"), ("judged", "down")),
    *(("reason", '50 % "off"'), ("tokens-from", "500"), ("cost-from", "0.50"), ("state", "done")),
    *(("call", "yes"), ("branch", "yes"), ("file", "yes"), ("unpriced", "no"), ("verdict", "bad")),
    *(("label", "{label}"), ("assigned", "ada"), ("queue", "{queue}"), ("ids", "{conversation},9")),
)
LEFT_OUT = (
    *(("outcome", "completed"), ("judged", "none"), ("tokens-to", "499"), ("cost-to", "0.49")),
    *(("call", "no"), ("unpriced", "yes"), ("state", "new")),
)


def test_each_filter_finds_its_conversations(values: dict[str, int]):
    for name, text in FOUND:
        assert find(**{name: text.format(**values)}) == {"with"}, name
    for name, text in LEFT_OUT:
        assert find(**{name: text}) == {"without"}, name


INVALID = {
    "copilot": ("nonsense", "9" * 30, "\0"),
    "version": ("one", str(2**31)),
    "tokens-from": ("-1", "much", "1.5"),
    "cost-from": ("much", "-1", "nan", "inf", "1e99999"),
    "ttft-to": ("soon", "nan", "-1"),
    "caller": ("key:x",),
    "user": ("nobody",),
    "days": ("2",),
    "since": ("yesterday",),
    "outcome": ("good",),
}


def test_a_value_that_is_not_valid_finds_nothing_and_is_reported():
    Client().ask("asked").answer("-")
    for name, texts in INVALID.items():
        for text in texts:
            read = read_filters({name: text})
            assert list(read.errors) == [name], text
            assert not read.apply(Conversation.objects.all()).exists()
    backwards = {"since": "2026-01-02", "until": "2026-01-01", "ttft-from": "1", "ttft-to": "0.9"}
    assert list(read_filters(backwards).errors) == ["until", "ttft-to"]


# The index by which each filter finds its rows in the order of the list; the others walk along the list.
INDEXES = {
    "copilot": ("{copilot.slug}", "of_copilot"), "caller": ("anonymous", "of_caller"),
    "user": ("ada", "of_user"), "since": ("2026-01-01", "recent"), "tokens-from": ("5", "recent"),
    "outcome": ("any-failed", "has_error"), "judged": ("down", "n_down"), "state": ("done", "reviewed"),
    "call": ("yes", "has_call"), "branch": ("yes", "has_branch"), "file": ("yes", "has_file"),
}  # fmt: skip


@pytest.mark.parametrize("name", INDEXES)
def test_single_filters_find_their_rows_by_an_index(name: str):
    copilot = make_copilot()
    save_end_user(AskingUser(id="ada"), at=timezone.now())
    value, index = INDEXES[name]
    read = read_filters({name: value.format(copilot=copilot), "playground": "with"})
    if IS_POSTGRESQL:
        with connection.cursor() as cursor:
            for method in ("seqscan", "bitmapscan", "sort", "hashjoin", "mergejoin"):
                cursor.execute(f"SET LOCAL enable_{method} = off")
    rows = read.apply(Conversation.objects.order_by("-last_at", "-id"))
    assert f"conversation_{index}" in rows[:51].explain()


@pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite never makes a join of it")
def test_common_values_of_runs_are_looked_up_until_a_page_is_full(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(filters, "MAX_LISTED_RUNS", 0)
    Client().ask("Asked").answer("-")
    read = read_filters({"model": "small-1"})
    plan = read.apply(Conversation.objects.order_by("-last_at", "-id"))[:51].explain()
    assert "SubPlan" in plan
    assert "Join" not in plan.split("SubPlan")[0]
