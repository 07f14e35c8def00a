"""Words that alerts told go with the conversations that they were said in, and no others."""

from datetime import timedelta
import json

from django.db.models import F
from django.utils import timezone
import pytest

from copilot_admin.alerts.kind import all_kinds
from copilot_admin.alerts.plain import one_line
from copilot_admin.alerts.windows import span_of
from copilot_admin.models import Alert, AlertDelivery, AlertRule, AlertWebhook, Feedback, Turn
from copilot_admin.privacy import told_words
from copilot_admin.privacy.told_words import forget_told
from tests.transcripts.store.journaling import Client

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def complaint(comment: str) -> int:
    """A conversation whose answer got a thumb down; its id."""
    talk = Client().ask(f"About {comment[:20]}").answer("a").conversation
    turn = Turn.objects.get(conversation=talk)
    Feedback.objects.create(turn=turn, source="end_user", value=-1, comment=comment, tags=["Slow"])
    return talk.pk


def line_of(comment: str) -> str:
    return one_line(f"Slow: {comment}", most=200)


def told(*lines: str, state: str = "sent", days_ago: int = 0) -> Alert:
    """An alert with words, told by mail and to a webhook."""
    rule, _ = AlertRule.objects.get_or_create(
        name="r", kind="thumbs_down", threshold=1, window="hour", with_words=True
    )
    hook, _ = AlertWebhook.objects.get_or_create(name="h", url="https://b.example")
    now = timezone.now() - timedelta(days=days_ago)
    alert = Alert.objects.create(
        rule=rule, opened_at=now, closed_at=now, sentence="s", words=list(lines)
    )
    mail = "Two thumbs.\n" + "\n".join(f"> {line}" for line in lines)
    post = json.dumps({"data": {"words": lines}})
    made = {"event": "opened", "alert": alert, "subject": "s", "state": state}
    AlertDelivery.objects.create(**made, to="a@b.example", body=mail)
    AlertDelivery.objects.create(**made, webhook=hook, body=post)
    return alert


def left() -> list[tuple[list[str], list[tuple[str, bool]]]]:
    """Of each alert its words, and of each message its state and whether it says anything."""
    return [
        (
            alert.words,
            [(one.state, bool(one.body)) for one in alert.deliveries.order_by("made_at")],
        )
        for alert in Alert.objects.order_by("pk")
    ]


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    "comment",
    ["Wrong price", "Zażółć\ngęślą  jaźń", "a\u202eb c", "x" * 900, "two\tlines\r\n> here"],
)
def test_one_persons_words_go_and_anothers_stay(comment):
    mine, others = complaint(comment), complaint("Something else")
    told(line_of(comment), line_of("Something else"))
    told(line_of("Something else"))
    forget_told([mine])
    kept = line_of("Something else")
    sent = ("sent", True)
    assert left() == [([kept], [("sent", False)] * 2), ([kept], [sent, sent])]
    forget_told([others])
    assert left() == [([], [("sent", False)] * 2)] * 2


def test_what_still_waits_is_not_sent_any_more():
    mine = complaint("Wrong price")
    told(line_of("Wrong price"), state="waiting")
    forget_told([mine])
    assert left() == [([], [("failed", False)] * 2)]


def test_messages_of_an_alert_without_words_show_nobodys():
    mine = complaint("Wrong price")
    complaint("Something else")
    alert = told(line_of("Something else"))
    Alert.objects.filter(pk=alert.pk).update(words=[line_of("Wrong price")])  # a day later
    forget_told([mine])
    assert left() == [([], [("sent", False)] * 2)]


def test_what_is_said_with_a_thumb_again_goes_from_the_alert_that_told_it_first():
    mine = complaint("Wrong price")
    Turn.objects.update(started_at=timezone.now() - timedelta(days=40))
    told(line_of("Wrong price"), days_ago=39)
    forget_told([mine])
    assert left() == [([], [("sent", False)] * 2)]


def test_alerts_that_had_ended_before_or_came_long_after_are_not_read(monkeypatch):
    """Each batch of a night would read all there are, on the thread that writes."""
    mine = complaint("Wrong price")
    shift = timedelta(days=20)
    Turn.objects.update(started_at=F("started_at") - shift)
    Feedback.objects.update(created_at=F("created_at") - shift)
    Turn.objects.update(started_at=Feedback.objects.get().created_at)
    read = []
    monkeypatch.setattr(told_words, "_tells", lambda row, *_, **__: read.append(row.alert_id))
    alerts = [told(line_of("Something else"), days_ago=days).pk for days in (30, 19, 15, 5, 0)]
    forget_told([mine])
    assert sorted(read) == sorted(alerts[1:3] * 2)


def test_of_conversations_in_which_nothing_was_said_no_alert_is_read(django_assert_num_queries):
    talk = Client().ask("Hi").answer("Hello").conversation
    told(line_of("Something else"))
    with django_assert_num_queries(2):
        forget_told([talk.pk])


def test_no_rule_tells_words_that_are_older_than_is_looked_for():
    now = timezone.now()
    windows = {window for kind in all_kinds().values() if kind.has_words for window in kind.windows}
    assert max(now - span_of(window, now).first for window in windows) <= told_words.TOLD_WITHIN
