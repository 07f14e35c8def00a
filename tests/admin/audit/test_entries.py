"""The audit trail names each action in the admin and of commands once: by whom, on what, before and after."""

from collections.abc import Callable
from datetime import timedelta
import json
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.audit.recording import READ_INTERVAL
from copilot_admin.models import (
    Action,
    AuditEntry,
    Conversation,
    EndpointKey,
    LegalHold,
    Provider,
    Removal,
    Turn,
    TurnNote,
)
from copilot_admin.models.audit import ActorKind
from tests.factories import make_copilot, make_provider, make_user
from tests.transcripts.store.journaling import Client as Asking

pytestmark = pytest.mark.django_db
ADMIN = "/admin/copilot_admin"


@pytest.fixture
def boss() -> Client:
    browser = Client()
    browser.force_login(make_user(username="boss", is_superuser=True))
    return browser


@pytest.fixture
def talk() -> Conversation:
    return Asking(trace_id="t").ask("canary question").answer("42").conversation


def newest() -> AuditEntry:
    return AuditEntry.objects.all()[0]


def told(count: int = 1) -> list[tuple[str, str, Any, Any]]:
    """The newest entries, the oldest of them first."""
    newest = list(AuditEntry.objects.all()[:count])[::-1]
    return [
        (one.action, one.subject_kind, json.loads(one.before), json.loads(one.after))
        for one in newest
    ]


def entries() -> int:
    return AuditEntry.objects.count()


PROVIDER = {
    "name": "Bank",
    "kind": "openai_compatible",
    "base_url": "https://models.bank.example/v1",
    "api_key": "sk-canary-0123456789",
    "tool_calling": "native",
}


def test_a_provider_is_told_without_its_key(boss: Client) -> None:
    made = boss.post(f"{ADMIN}/provider/add/", PROVIDER)
    assert made.status_code == 302, made.context["adminform"].form.errors
    action, kind, before, after = told()[0]
    assert (action, kind, before, after["api_key_cipher"]) == ("added", "provider", {}, "set")
    provider = Provider.objects.get(name="Bank")
    address = f"{ADMIN}/provider/{provider.pk}/change/"
    boss.post(address, {**PROVIDER, "api_key": "sk-canary-9999999999", "name": "Bank 2"})
    action, kind, before, after = told()[0]
    assert action == "changed"
    assert (before["name"], after["name"]) == ("Bank", "Bank 2")
    assert (before["api_key_cipher"], after["api_key_cipher"]) == ("set", "changed")
    count = entries()
    boss.post(address, {**PROVIDER, "name": ""})
    assert entries() == count  # a form with a mistake changes nothing
    boss.post(f"{ADMIN}/provider/{provider.pk}/delete/", {"post": "yes"})
    assert told()[0][:2] == ("deleted", "provider")
    written = "".join(one.before + one.after for one in AuditEntry.objects.all())
    assert "canary" not in written


def test_sign_ins_failures_and_sign_outs_are_recorded() -> None:
    User.objects.create_superuser("anna", password="right")
    browser = Client()
    page = "/admin/login/"
    browser.post(page, {"login": "anna", "password": "wrong"})
    browser.post(page, {"login": "my password", "password": "wrong"})
    browser.post(page, {"login": "anna", "password": "right"})
    browser.post("/admin/logout/")
    told_of = list(
        AuditEntry.objects.order_by("sequence").values_list(
            "action", "actor_kind", "actor_name", "subject_name"
        )
    )
    assert told_of[0] == ("login_failed", "stranger", "", "anna")
    assert told_of[1][:3] == ("login_failed", "stranger", "")
    assert told_of[1][3].startswith("unknown:")
    assert told_of[2:] == [
        ("logged_in", "person", "anna", "anna"),
        ("logged_out", "person", "anna", "anna"),
    ]


def test_a_key_is_told_when_it_is_made_and_revoked_once(boss: Client) -> None:
    boss.post(f"{ADMIN}/endpointkey/add/", {"name": "Desk", "expires_at": ""})
    key = EndpointKey.objects.get()
    action, _, _, after = told()[0]
    assert (action, after["digest"], after["name"]) == ("added", "set", "Desk")
    for _ in range(2):
        boss.post(f"{ADMIN}/endpointkey/{key.pk}/revoke/")
    assert AuditEntry.objects.filter(action=Action.REVOKED, subject_id=str(key.pk)).count() == 1


def test_who_reads_a_transcript_is_told_once_in_ten_minutes(
    boss: Client, reviewer: Client, talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = f"{ADMIN}/conversation/{talk.pk}/change/"
    for _ in range(3):
        boss.get(page)
        boss.get(f"{ADMIN}/conversation/{talk.pk}/turns/")
        boss.get(f"{ADMIN}/conversation/{talk.pk}/state/")
    reviewer.get(page)
    read = AuditEntry.objects.filter(action=Action.READ)
    assert (
        list(read.values_list("subject_kind", "subject_id", "subject_name"))
        == [("conversation", str(talk.pk), "")] * 2
    )
    later = timezone.now() + READ_INTERVAL + timedelta(seconds=1)
    monkeypatch.setattr("copilot_admin.audit.recording.timezone.now", lambda: later)
    reviewer.get(page)
    assert read.count() == 3
    assert "canary" not in "".join(one.after + one.subject_name for one in read)


def test_a_search_is_told_with_its_filters_and_without_its_words(reviewer: Client) -> None:
    reviewer.get(f"{ADMIN}/conversation/", {"q": "canary", "outcome": "failed"})
    action, kind, _, after = told()[0]
    assert (action, kind, after["filters"]) == ("searched", "conversation", {"outcome": "failed"})
    assert after["words"]["characters"] == 6
    assert "canary" not in newest().after


def test_a_copilot_is_told_from_its_draft_to_the_archive(boss: Client) -> None:
    copilot = make_copilot(slug="macro", name="Macro", system_prompt="Be brief.")
    boss.get(f"{ADMIN}/copilot/publish/?id={copilot.pk}")
    page = boss.get(f"{ADMIN}/copilot/publish/?id={copilot.pk}")
    draft = page.context["cards"][0]["draft"]
    seen = {"draft": f"{copilot.pk}:{draft.digest}", f"note-{copilot.pk}": "First"}
    boss.post(f"{ADMIN}/copilot/publish/?id={copilot.pk}", seen)
    action, _, before, after = told()[0]
    assert (action, before, after["live"], after["note"]) == ("published", {}, 1, "First")
    boss.post(f"{ADMIN}/copilot/archive/?id={copilot.pk}")
    assert told()[0] == ("archived", "copilot", {}, {})
    boss.post(f"{ADMIN}/copilot/{copilot.pk}/restore/")
    boss.post(
        f"{ADMIN}/copilot/export/",
        {"slug": ["macro"], "format": "json", "files": "one", "what": "draft"},
    )
    facts = {"copilots": ["macro"], "format": "json", "live": False}
    assert told()[0] == ("exported", "copilot", {}, facts)


def make_a_key(_: Path) -> None:
    call_command("keys", "create", "Desk")


def export_copilots(folder: Path) -> None:
    make_copilot(slug="macro")
    call_command("copilots", "export", "--out", str(folder / "copilots.json"))


def export_transcripts(folder: Path) -> None:
    output = str(folder / "all.jsonl")
    call_command(
        "transcripts", "export", "--format", "jsonl", "--output", output, "--search", "canary"
    )


def import_copilots(folder: Path) -> None:
    make_provider(name="Practice")
    entry = {"slug": "macro", "name": "Macro", "provider": "Practice", "model": "m"}
    file = folder / "macro.json"
    file.write_text(json.dumps({"format": 1, "copilots": [entry]}))
    call_command("copilots", "import", str(file), "--dry-run")
    assert not AuditEntry.objects.exists()
    call_command("copilots", "import", str(file))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (make_a_key, ("added", "endpointkey")),
        (export_copilots, ("exported", "copilot")),
        (export_transcripts, ("exported", "conversation")),
        (import_copilots, ("imported", "copilot")),
    ],
)
def test_commands_are_told_with_the_user_of_the_system(
    command: Callable[[Path], None],
    expected: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "deploy")
    command(tmp_path)
    entry = newest()
    assert (entry.action, entry.subject_kind) == expected
    assert (entry.actor_kind, entry.actor_name) == (ActorKind.COMMAND, "deploy")
    assert "canary" not in entry.after


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
