"""The filters of the transcript list."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone
import pytest

from copilot_admin.agent.values.engine_input import FileRead
from copilot_admin.copilots.users import AskingUser
from copilot_admin.models import (
    Conversation,
    Criterion,
    CriterionKind,
    EndUser,
    Feedback,
    FeedbackSource,
    Outcome,
    SeenKind,
    SeenValue,
)
from copilot_admin.transcripts.filters.filter import FilterControl, NoSuchValue
from copilot_admin.transcripts.filters.registry import BY_NAME, FILTERS
from copilot_admin.transcripts.search.chosen import read_filters
from copilot_admin.transcripts.store.users import row_of
from tests.databases import IS_POSTGRESQL
from tests.factories import make_copilot, make_key, make_version
from tests.transcripts.store.journaling import Client, ai, call_event, ending

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def found(**given: str) -> set[str]:
    """Titles of the conversations that pass; a filter's name has hyphens in the address."""
    chosen = read_filters({name.replace("_", "-"): value for name, value in given.items()})
    assert not chosen.unknown
    return set(Conversation.objects.filter(chosen.condition).values_list("title", flat=True))


def change(title: str, **changes: Any) -> None:
    assert Conversation.objects.filter(title=title).update(**changes) == 1


def test_a_copilot_is_found_by_slug_number_and_name():
    version = make_version(slug="news", name="The News")
    Client(version=version).ask("Asked").answer("-")
    Client().ask("Other").answer("-")
    for text in ("news", "The News", str(version.copilot_id)):
        assert found(copilot=text) == {"Asked"}


def test_two_copilots_that_are_called_the_same_are_both_found():
    for slug, name in (("a", "b"), ("b", "c")):
        Client(version=make_version(slug=slug, name=name)).ask(slug).answer("-")
    assert found(copilot="b") == {"a", "b"}


def test_a_name_is_found_in_whatever_letters():
    Client(version=make_version(slug="weather", name="Погода ИЗ окна")).ask("Asked").answer("-")
    assert found(copilot="погода из ОКНА") == {"Asked"}


def test_a_slug_that_is_a_number_is_no_number_of_another_copilot():
    first = make_version(slug="first")
    Client(version=first).ask("first").answer("-")
    Client(version=make_version(slug=str(first.copilot_id))).ask("other").answer("-")
    assert found(copilot=str(first.copilot_id)) == {"other"}


def test_conversations_are_found_by_what_their_runs_were():
    Client().ask("Asked").answer("-", ended=ending(Outcome.FAILED, error_code="no-model"))
    assert found(version="1", model="small-1", provider="Provider") == {"Asked"}
    for other in ({"version": "2"}, {"model": "small"}, {"provider": "P"}):
        assert found(**other) == set()
    assert found(error="no-model") == {"Asked"}
    assert found(error="no") == set()


def test_callers_are_told_apart_and_the_playground_is_left_out():
    key, _ = make_key()
    for principal in ("anonymous", f"key:{key.pk}", "playground:1"):
        Client(principal=principal).ask(principal).answer("-")
    assert found() == {"anonymous", f"key:{key.pk}"}
    assert found(caller="anonymous") == {"anonymous"}
    assert found(caller=f"key:{key.pk}") == {f"key:{key.pk}"}
    assert found(playground="with") == {"anonymous", f"key:{key.pk}", "playground:1"}
    assert found(playground="only") == {"playground:1"}


def test_a_period_has_its_first_and_its_last_day():
    for title, at in (
        ("before", datetime(2026, 11, 19, 23, 59, 59, tzinfo=UTC)),
        ("first", datetime(2026, 11, 20, tzinfo=UTC)),
        ("last", datetime(2026, 11, 21, 23, 59, 59, tzinfo=UTC)),
        ("after", datetime(2026, 11, 22, tzinfo=UTC)),
    ):
        Client().ask(title).answer("-")
        change(title, last_at=at)
    assert found(since="2026-11-20", until="2026-11-21") == {"first", "last"}
    change("after", last_at=timezone.now())
    change("last", last_at=timezone.now() - timedelta(days=10))
    assert found(days="1") == {"after"}
    assert found(days="30") >= {"after", "last"}


def test_outcomes_and_failures():
    Client().ask("ok").answer("-")
    Client().ask("failed").answer("-", ended=ending(Outcome.FAILED))
    client = Client()
    client.ask("mended").answer("-", ended=ending(Outcome.FAILED))
    client.ask("mended", ai("-"), "Again").answer("-")
    assert found(outcome="completed") == {"ok", "mended"}
    assert found(outcome="failed") == {"failed"}
    assert found(outcome="any-failed") == {"failed", "mended"}


def test_thumbs_and_their_reasons():
    asked = Client().ask("judged").answer("-")
    Client().ask("other").answer("-")
    change("judged", n_down=1)
    Feedback.objects.create(
        turn_id=asked.accepted.turn_id,
        source=FeedbackSource.END_USER,
        value=-1,
        tags=["Неверно", "Too long"],
    )
    assert found(judged="down") == {"judged"}
    assert found(judged="up") == set()
    assert found(judged="none") == {"other"}
    assert found(reason="Неверно") == {"judged"}
    assert found(reason="Too") == set()


@pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite has no index of what is in a list")
def test_a_reason_is_found_by_the_index_of_all_reasons():
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "feedback_reasons" in Feedback.objects.filter(tags__contains=["Slow"]).explain()


def test_figures_lie_between_bounds():
    Client().ask("asked").answer("-")  # 15 tokens, the first after 300 ms
    for given, expected in (
        ({"tokens_from": "15", "tokens_to": "15"}, True),
        ({"tokens_from": "16"}, False),
        ({"tokens_to": "14"}, False),
        ({"cost_from": "0", "cost_to": "0,0"}, True),
        ({"cost_from": "$0.001"}, False),
        ({"ttft_from": "0.3", "ttft_to": "0,3"}, True),
        ({"ttft_from": "0.4"}, False),
        ({"ttft_to": "0.2"}, False),
    ):
        assert (found(**given) == {"asked"}) is expected, given


@pytest.mark.parametrize("ms", [1001, 1005, 4353])
def test_seconds_are_read_to_the_millisecond(ms: int):
    """As binary numbers 1.001 and 1.005 s are less than a millisecond too few."""
    Client().ask("asked").answer("-")
    change("asked", ttft_ms=ms)
    text = f"{ms / 1000:.3f}"
    assert found(ttft_from=text, ttft_to=text) == {"asked"}
    assert found(ttft_from=f"{text}1") == set()
    assert found(ttft_to=f"{text}1") == {"asked"}


def test_users_are_found_by_all_their_names_and_by_what_providers_are_told():
    ada = AskingUser(id="u-1", email="ada@b.example", name="Ada")
    Client(user=ada).ask("by ada").answer("-")
    Client(user=AskingUser(id="u-2", name="Ada")).ask("by another").answer("-")
    Client().ask("by nobody").answer("-")
    digest = EndUser.objects.get(identifier="u-1").digest
    for text in ("u-1", "ada@b.example", digest):
        assert found(user=text) == {"by ada"}
    assert found(user="Ada") == {"by ada", "by another"}
    listed = dict(BY_NAME["user"].choices())
    assert listed == {"u-1": "Ada", "u-2": "Ada"}


def test_calls_branches_and_files():
    file = FileRead(name="a.pdf", kind="pdf", size=1, pages=1, pixels=None, note="", fault="")
    Client().ask("call").answer(call_event())
    Client().ask("file").answer(file, "-")
    branched = Client()
    branched.ask("branch").answer("-")
    branched.ask("branch", ai("-"), "One").answer("-")
    branched.ask("branch", ai("-"), "Two").answer("-")
    for name in ("call", "file", "branch"):
        assert found(**{name: "yes"}) == {name}
        assert found(**{name: "no"}) == {"call", "file", "branch"} - {name}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("copilot", "nonsense"),
        ("copilot", "9" * 30),
        ("version", "one"),
        ("version", str(2**31)),
        ("caller", "key:x"),
        ("days", "2"),
        ("since", "yesterday"),
        ("outcome", "good"),
        ("tokens-from", "-1"),
        ("tokens-from", "²"),
        ("user", "nobody"),
        ("cost-from", "much"),
        ("cost-from", "-1"),
        ("cost-from", "1e99999"),
        ("cost-from", "1e-99999"),
        ("ttft-to", "1e-99999"),
        ("cost-to", "nan"),
        ("cost-to", "inf"),
        ("ttft-from", "soon"),
        ("ttft-from", "1e300"),
        ("ttft-to", "-1"),
        ("ttft-to", "nan"),
        ("call", "maybe"),
    ],
)
def test_what_a_filter_does_not_know_leaves_nothing_and_is_named(name: str, text: str):
    Client().ask("asked").answer("-")
    chosen = read_filters({name: text})
    assert chosen.unknown == (BY_NAME[name],)
    assert not Conversation.objects.filter(chosen.condition).exists()
    with pytest.raises(NoSuchValue):
        BY_NAME[name].condition(text)


@pytest.mark.parametrize(
    ("ends", "turned_round"),
    [
        ({"since": "2026-01-02", "until": "2026-01-02"}, []),
        ({"since": "2026-01-02", "until": "2026-01-01"}, ["until"]),
        ({"since": "2026-01-02", "until": "9999-12-31"}, []),
        ({"tokens-from": "5", "tokens-to": "5"}, []),
        ({"tokens-from": "5", "tokens-to": "4"}, ["tokens-to"]),
        ({"cost-from": "$0,5", "cost-to": "0.4"}, ["cost-to"]),
        ({"ttft-from": "1", "ttft-to": "0.9999"}, ["ttft-to"]),
        ({"tokens-to": "4", "cost-from": "5"}, []),
        ({"tokens-from": "much", "tokens-to": "4"}, []),
    ],
)
def test_an_end_before_its_beginning_is_named(ends: dict[str, str], turned_round: list[str]):
    assert [one.name for one in read_filters(ends).turned_round] == turned_round


@pytest.mark.database
@pytest.mark.parametrize("name", ["cost-from", "ttft-from"])
def test_a_zero_is_one_whatever_its_exponent(name: str):
    nothing = BY_NAME[name].condition("0e-999999")
    assert nothing == BY_NAME[name].condition("0")
    assert not Conversation.objects.filter(nothing).exists()


@pytest.mark.parametrize("name", ["since", "until"])
@pytest.mark.parametrize(("day", "is_there"), [("0001-01-01", "since"), ("9999-12-31", "until")])
def test_the_first_and_the_last_day_of_all_are_days(name: str, day: str, is_there: str):
    Client().ask("asked").answer("-")
    found = Conversation.objects.filter(BY_NAME[name].condition(day))
    assert found.exists() == (name == is_there)


def test_what_is_empty_or_of_others_is_no_filter():
    assert read_filters({"copilot": " ", "q": "x", "older": "1-1"}).values == {}
    assert read_filters({"model": "\0"}).values == {}


def test_choices_come_from_small_tables():
    copilot = make_copilot(name="A")
    key, _ = make_key("Desk")
    SeenValue.objects.create(kind=SeenKind.MODEL, value="m-1")
    label = Criterion.objects.create(name="Wrong", kind=CriterionKind.LABEL)
    listed = {one.name: list(one.choices()) for one in FILTERS}
    assert (copilot.slug, "A") in listed["copilot"]
    assert (f"key:{key.pk}", "Desk") in listed["caller"]
    assert listed["model"] == [("m-1", "m-1")]
    assert listed["label"] == [(str(label.pk), "Wrong")]
    assert listed["error"] == []
    assert all(listed[one.name] for one in FILTERS if one.widget is FilterControl.CHOICE)


def test_values_of_the_log_are_noted_when_they_are_written():
    Client().ask("a").answer("-", ended=ending(Outcome.FAILED, error_code="no-model"))
    Client().ask("b").answer("-", ended=ending(Outcome.FAILED, error_code="no-model"))
    assert set(SeenValue.objects.values_list("kind", "value")) == {
        (SeenKind.MODEL, "small-1"),
        (SeenKind.ERROR, "no-model"),
    }


# How each filter is found in a big table; the others go along the list, which is bounded by its page.
INDEXES = {
    "copilot": ("1", "conversation_of_copilot"),
    "tag": ("Risk", "conversation_of_copilot"),
    "version": ("1", "run_of_version" if IS_POSTGRESQL else "copilot_admin_run_conversation_id"),
    "model": ("m", "run_of_model"),
    "provider": ("p", "run_of_provider"),
    "caller": ("anonymous", "conversation_of_caller"),
    "user": ("ada", "conversation_of_user"),
    "days": ("7", "conversation_recent"),
    "since": ("2026-01-01", "conversation_recent"),
    "until": ("2026-01-01", "conversation_recent"),
    "outcome": ("any-failed", "conversation_has_error"),
    "error": ("e", "run_of_error"),
    "judged": ("down", "conversation_n_down"),
    "reason": ("r", "copilot_admin_feedback"),
    "call": ("yes", "conversation_has_call"),
    "branch": ("yes", "conversation_has_branch"),
    "file": ("yes", "conversation_has_file"),
    "tokens-from": ("5", "conversation_recent"),
    "tokens-to": ("5", "conversation_recent"),
    "cost-from": ("0.1", "conversation_recent"),
    "cost-to": ("0.1", "conversation_recent"),
    "ttft-from": ("5", "conversation_recent"),
    "ttft-to": ("5", "conversation_recent"),
    "state": ("done", "conversation_reviewed"),
    # Two indexes of it begin with the criterion; which of them PostgreSQL takes is its affair.
    "label": (
        "1",
        "Index Cond: (criterion_id" if IS_POSTGRESQL else "copilot_admin_mark_criterion_id",
    ),
    "counted": ("requests 2026-01-01 2026-01-02", "conversation_recent"),
    "playground": ("with", "conversation_recent"),
}


def test_every_filter_says_how_it_is_found():
    assert INDEXES.keys() == BY_NAME.keys()


@pytest.mark.parametrize("name", INDEXES)
def test_filters_find_their_rows_by_an_index(name: str):
    copilot = make_copilot(tags=["Risk"])
    row_of(AskingUser(id="ada"), at=timezone.now())
    text, index = INDEXES[name]
    value = str(copilot.pk) if name == "copilot" else text
    given = {name: value} if name == "playground" else {name: value, "playground": "with"}
    rows = Conversation.objects.filter(read_filters(given).condition)
    if IS_POSTGRESQL:
        with connection.cursor() as cursor:
            for way in ("seqscan", "bitmapscan", "sort", "hashjoin", "mergejoin"):
                cursor.execute(f"SET LOCAL enable_{way} = off")
    plan = rows.order_by("-last_at", "-id")[:51].explain()
    assert index in plan, plan
    assert "Seq Scan on copilot_admin_conversation" not in plan
    assert "Seq Scan on copilot_admin_run" not in plan
