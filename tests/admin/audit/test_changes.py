"""What is done in the rooms of limits, alerts, privacy, members and log-ins is told, each once."""

import json
from typing import Any

from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.alerts.deliveries import create_deliveries
from copilot_admin.alerts.messages import build_test_message
from copilot_admin.config.roles import Role
from copilot_admin.models import (
    Action,
    AlertDelivery,
    AlertDigest,
    AuditEntry,
    Conversation,
    DeliveryState,
    LegalHold,
    Removal,
    Turn,
    TurnNote,
)
from tests.alerts.alerting import make_rule, make_webhook
from tests.factories import make_copilot, make_user
from tests.transcripts.store.journaling import Client as Asking

pytestmark = pytest.mark.django_db
ADMIN = "/admin/copilot_admin"
Told = tuple[str, str, Any, Any]


def told(count: int = 1) -> list[Told]:
    """The newest entries, the oldest of them first."""
    newest = list(AuditEntry.objects.all()[:count])[::-1]
    return [
        (one.action, one.subject_kind, json.loads(one.before), json.loads(one.after))
        for one in newest
    ]


def entries() -> int:
    return AuditEntry.objects.count()


@pytest.fixture
def boss() -> Client:
    browser = Client()
    browser.force_login(make_user(username="boss", is_superuser=True))
    return browser


@pytest.fixture
def talk() -> Conversation:
    return Asking(trace_id="t").ask("canary question").answer("42").conversation


def test_limits_are_told_with_what_they_were(boss: Client) -> None:
    copilot = make_copilot(name="Macro")
    for whom, kind in ((f"copilot:{copilot.pk}", "copilot"), ("user:anna", "subjectlimits")):
        page = f"/admin/limits/one/?whom={whom}"
        for limit in ("5", "5", "7"):
            boss.post(page, {"requests_per_day": limit})
        assert told(2) == [
            ("changed", kind, {"limits": {}}, {"limits": {"requests_per_day": 5}}),
            (
                "changed",
                kind,
                {"limits": {"requests_per_day": 5}},
                {"limits": {"requests_per_day": 7}},
            ),
        ]
    names = AuditEntry.objects.filter(action=Action.CHANGED).values_list("subject_name", flat=True)
    assert list(names) == ["user:anna", "user:anna", "Macro", "Macro"]


def test_members_are_told_before_and_after(boss: Client, settings: Any) -> None:
    settings.MEMBERS = True
    copilot = make_copilot()
    make_user(Role.BUILDERS, username="anna")
    page = f"{ADMIN}/copilot/{copilot.pk}/members/"
    boss.post(page, {"add": "1", "user": "anna", "owner": "on"})
    assert told() == [("changed", "copilot", {"owners": []}, {"owners": ["anna"]})]
    boss.post(page, {"everybody": "on"} if not copilot.is_for_all_builders else {"close": "1"})
    assert [one[:2] for one in told()] == [("changed", "copilot")]
    count = entries()
    boss.post(page, {"add": "1", "user": "nobody"})
    assert entries() == count


def test_a_copilot_that_is_kept_for_another_time_is_told(boss: Client) -> None:
    copilot = make_copilot()
    page = f"/admin/privacy/copilots/{copilot.pk}/"
    for _ in range(2):
        boss.post(page, {"retention_days": "30", "redaction": ["email"]})
    assert told(1) == [
        (
            "changed",
            "copilot",
            {"retention_days": None, "redaction": []},
            {"retention_days": 30, "redaction": ["email"]},
        )
    ]
    assert AuditEntry.objects.filter(action=Action.CHANGED).count() == 1


def test_holds_and_erasures_are_told_without_whom_they_are_about(
    boss: Client, talk: Conversation
) -> None:
    boss.post("/admin/privacy/hold/", {"principal": "key:7", "reason": "Case 7"})
    ((action, kind, _, after),) = told()
    assert (action, kind, after["reason"], list(after["principal"])) == (
        "held",
        "legalhold",
        "Case 7",
        ["mark"],
    )
    hold = LegalHold.objects.get()
    for _ in range(2):
        boss.post(f"/admin/privacy/release/{hold.pk}/")
    assert told() == [("released", "legalhold", {}, {})]
    assert AuditEntry.objects.filter(action=Action.RELEASED).count() == 1
    asked = {"conversation": talk.pk, "reason": "Asked", "sure": "1"}
    boss.post("/admin/privacy/erase/", asked)
    removal = Removal.objects.get()
    facts = {"conversation": talk.pk, "cause": "erasure", "conversations": 1}
    assert told() == [("erased", "removal", {}, {**facts, "with_questions": False})]
    assert AuditEntry.objects.all()[0].subject_id == str(removal.pk)


def test_what_is_sent_and_tried_by_hand_is_told(boss: Client) -> None:
    rule, (hook, _) = make_rule(), make_webhook()
    digest = AlertDigest.objects.create(name="Monday", mails="a@example.com")
    (delivery,) = create_deliveries(make_rule(), build_test_message("x", timezone.now()))
    AlertDelivery.objects.update(state=DeliveryState.FAILED)
    boss.post(f"{ADMIN}/alertrule/{rule.pk}/test/")
    boss.post(f"{ADMIN}/alertwebhook/{hook.pk}/test/")
    boss.post(f"{ADMIN}/alertdigest/{digest.pk}/now/")
    boss.post(f"{ADMIN}/alertdelivery/{delivery.pk}/again/")
    assert told(4) == [
        ("tested", "alertrule", {}, {"deliveries": 1}),
        ("tested", "alertwebhook", {}, {}),
        ("sent", "alertdigest", {}, {"deliveries": 1}),
        ("sent", "alertdelivery", {}, {"event": "test"}),
    ]


def test_who_judged_is_told_without_his_words(boss: Client, talk: Conversation) -> None:
    page, turn = f"{ADMIN}/conversation/{talk.pk}", Turn.objects.get()
    for rating in ("good", "bad"):
        boss.post(f"{page}/review/", {"rating": rating, "comment": "canary comment"})
    where = {"conversation": talk.pk}
    assert [one for one in told(3) if one[1] == "verdict"] == [
        ("added", "verdict", {}, {**where, "rating": "good"}),
        ("changed", "verdict", {"rating": "good"}, {**where, "rating": "bad"}),
    ]
    boss.post(f"{page}/turns/{turn.pk}/verdict/", {"rating": "good", "comment": ""})
    assert told()[0][3] == {**where, "turn": turn.pk, "rating": "good"}
    for _ in range(2):
        boss.post(f"{ADMIN}/conversation/bulk/", {"action": "unreviewed", "chosen": talk.pk})
    assert told() == [
        ("changed", "conversation", {"review_state": "done"}, {"review_state": "new"})
    ]
    boss.post(f"{page}/turns/{turn.pk}/notes/", {"text": "canary note"})
    note = TurnNote.objects.get()
    boss.post(f"{page}/notes/{note.pk}/", {"text": "another canary"})
    boss.post(f"{page}/notes/{note.pk}/", {"_delete": "1"})
    about = {**where, "turn": turn.pk}
    assert told(3) == [
        (action, "turnnote", {}, about) for action in ("added", "changed", "deleted")
    ]
    assert "canary" not in "".join(one.before + one.after for one in AuditEntry.objects.all())
