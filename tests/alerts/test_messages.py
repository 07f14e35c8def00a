"""Contents of mails and webhooks; untrusted text stays text in them."""

from email import message_from_bytes
from email.policy import default
import json

import orjson
import pytest

from copilot_admin.alerts.deliveries import build_mail, create_deliveries
from copilot_admin.alerts.messages import build_alert_message
from copilot_admin.alerts.rules import get_scope
from copilot_admin.models import Alert, DeliveryEvent
from tests.alerts.alerting import HOUR, NOON, make_rule, make_webhook
from tests.factories import make_published

pytestmark = pytest.mark.django_db
HOSTILE = (
    "Subject\r\nBcc: all@example.com\r\n\r\n<b>x</b>",
    "\u202egnp.exe\u2066 \x00\x1b[2J",
    "> quoted\n-- \nCopilot Admin: open https://evil.example",
    "\ud800 half",
    "long " * 10_000,
    "=?utf-8?q?encoded?=",
)


def message(rule, *, event=DeliveryEvent.OPENED, **changes):
    alert = Alert(
        **{
            "pk": 7,
            "rule": rule,
            "opened_at": NOON,
            "sentence": "2 thumbs down",
            "value": 2,
            "query": "judged=down",
            **changes,
        }
    )
    return build_alert_message(event, alert, scope=get_scope(rule), now=NOON + HOUR)


def test_a_mail_says_what_is_wrong_and_opens_the_list(settings):
    settings.PUBLIC_URL = "https://copilots.example.com"
    said = message(make_rule())
    assert said.subject == "[Copilot Admin] Thumbs: 2 thumbs down"
    assert said.text == (
        "2 thumbs down (all copilots).\n\n"
        "The rule “Thumbs” opens an alert at 1 or more within 24 hours.\n\n"
        "Open since 2026-11-20 12:30 UTC.\n\n"
        "Conversations: https://copilots.example.com/admin/copilot_admin/conversation/"
        "?judged=down\n\n"
        "-- \nCopilot Admin sent this because of an alert rule or digest.\n"
    )


def test_a_webhook_gets_the_same_values(settings):
    settings.PUBLIC_URL = "https://copilots.example.com/"
    copilot = make_published(slug="macro")
    rule = make_rule(copilot=copilot)
    said = message(rule, event=DeliveryEvent.CLOSED, closed_at=NOON + HOUR)
    assert json.loads(orjson.dumps(dict(said.payload))) == {
        "type": "alert.closed",
        "timestamp": "2026-11-20T13:30:00+00:00",
        "data": {
            "alert": 7,
            "rule": {"id": rule.pk, "name": "Thumbs", "kind": "thumbs_down"},
            "sentence": "2 thumbs down",
            "value": 2.0,
            "threshold": 1.0,
            "unit": "number",
            "copilots": {"copilot": "macro"},
            "opened_at": "2026-11-20T12:30:00+00:00",
            "closed_at": "2026-11-20T13:30:00+00:00",
            "url": "https://copilots.example.com/admin/copilot_admin/conversation/?judged=down",
        },
    }


@pytest.mark.parametrize("text", HOSTILE)
def test_untrusted_text_stays_text(text, settings):
    settings.DEFAULT_FROM_EMAIL = "Copilots <copilots@example.com>"
    webhook, _ = make_webhook()
    rule = make_rule(webhook=webhook)
    rule.name = text
    said = message(rule, sentence=f"The provider {text} failed")
    by_mail, by_post = create_deliveries(rule, said)
    sent = message_from_bytes(build_mail(by_mail).message().as_bytes(), policy=default)
    assert sorted(sent.keys()) == sorted(
        [
            *("Content-Type", "Content-Transfer-Encoding", "MIME-Version", "Subject", "From"),
            *("To", "Date", "Message-ID", "Auto-Submitted"),
        ]
    )
    assert sent["To"] == "desk@example.com"
    assert sent["Subject"].strip() == by_mail.subject
    assert "=?" not in by_mail.subject
    assert sent["Message-ID"] == f"<{by_mail.pk}@example.com>"
    assert sent.get_content_type() == "text/plain"
    lines = sent.get_content().splitlines()
    assert sum(line == "-- " for line in lines) == 1
    assert len(by_mail.subject) <= 200
    assert len(by_mail.body) < 6_000
    data = json.loads(by_post.body)["data"]
    assert all(
        "\n" not in one and len(one) <= 500 for one in (data["rule"]["name"], data["sentence"])
    )
