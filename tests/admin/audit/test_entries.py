"""What people do in the admin, and commands do, is told whole: by whom, on what, before and after."""

from collections.abc import Callable
from datetime import timedelta
import json
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.audit.recording import READ_INTERVAL
from copilot_admin.config.roles import Role
from copilot_admin.models import Action, AuditEntry, Conversation, EndpointKey, Provider
from copilot_admin.models.audit import ActorKind
from tests.factories import make_copilot, make_provider, make_published, make_user

pytestmark = pytest.mark.django_db
ADMIN = "/admin/copilot_admin"


@pytest.fixture
def boss() -> Client:
    browser = Client()
    browser.force_login(User.objects.create_superuser("boss", password="wrong horse"))
    return browser


def newest() -> AuditEntry:
    return AuditEntry.objects.all()[0]


def told(entry: AuditEntry) -> tuple[str, str, Any, Any]:
    """What, on what, before and after."""
    before, after = json.loads(entry.before), json.loads(entry.after)
    return entry.action, entry.subject_kind, before, after


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
    action, kind, before, after = told(newest())
    assert (action, kind, before, after["api_key_cipher"]) == ("added", "provider", {}, "set")
    provider = Provider.objects.get(name="Bank")
    address = f"{ADMIN}/provider/{provider.pk}/change/"
    boss.post(address, {**PROVIDER, "api_key": "sk-canary-9999999999", "name": "Bank 2"})
    action, kind, before, after = told(newest())
    assert action == "changed"
    assert (before["name"], after["name"]) == ("Bank", "Bank 2")
    assert (before["api_key_cipher"], after["api_key_cipher"]) == ("set", "changed")
    count = entries()
    boss.post(address, {**PROVIDER, "name": ""})
    assert entries() == count  # a form with a mistake changes nothing
    boss.post(f"{ADMIN}/provider/{provider.pk}/delete/", {"post": "yes"})
    assert told(newest())[:2] == ("deleted", "provider")
    written = "".join(one.before + one.after for one in AuditEntry.objects.all())
    assert "canary" not in written


def test_people_groups_and_passwords_are_told(boss: Client) -> None:
    person = make_user()
    values = {"username": person.username, "is_active": "on"}
    group = Group.objects.get(name=Role.REVIEWERS)
    boss.post(f"/admin/auth/user/{person.pk}/change/", {**values, "roles": [group.pk]})
    action, _, before, after = told(newest())
    assert (action, before["groups"], after["groups"]) == (
        "changed",
        [],
        [f"Reviewers ({group.pk})"],
    )
    boss.post(f"/admin/auth/user/{person.pk}/password_link/")
    assert told(newest()) == ("changed", "user", {}, {"password_link": "created"})


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
    action, _, _, after = told(newest())
    assert (action, after["digest"], after["name"]) == ("added", "set", "Desk")
    for _ in range(2):
        boss.post(f"{ADMIN}/endpointkey/{key.pk}/revoke/")
    assert AuditEntry.objects.filter(action=Action.REVOKED, subject_id=str(key.pk)).count() == 1


def conversation() -> Conversation:
    now = timezone.now()
    return Conversation.objects.create(
        copilot=make_published(),
        principal="anonymous",
        first_at=now,
        last_at=now,
        title="canary question",
    )


def test_who_reads_a_transcript_is_told_once_in_ten_minutes(
    boss: Client, reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = conversation()
    page = f"{ADMIN}/conversation/{one.pk}/change/"
    for _ in range(3):
        boss.get(page)
        boss.get(f"{ADMIN}/conversation/{one.pk}/turns/")
        boss.get(f"{ADMIN}/conversation/{one.pk}/state/")
    reviewer.get(page)
    read = AuditEntry.objects.filter(action=Action.READ)
    assert (
        list(read.values_list("subject_kind", "subject_id", "subject_name"))
        == [("conversation", str(one.pk), "")] * 2
    )
    later = timezone.now() + READ_INTERVAL + timedelta(seconds=1)
    monkeypatch.setattr("copilot_admin.audit.recording.timezone.now", lambda: later)
    reviewer.get(page)
    assert read.count() == 3
    assert "canary" not in "".join(one.after + one.subject_name for one in read)


def test_a_search_is_told_with_its_filters_and_without_its_words(reviewer: Client) -> None:
    reviewer.get(f"{ADMIN}/conversation/", {"q": "canary", "outcome": "failed"})
    action, kind, _, after = told(newest())
    assert (action, kind, after["filters"]) == ("searched", "conversation", {"outcome": "failed"})
    assert after["words"]["characters"] == 6
    assert "canary" not in newest().after


def test_a_copilot_is_told_from_its_draft_to_the_archive(boss: Client) -> None:
    copilot = make_copilot(slug="macro", name="Macro", system_prompt="Be brief.")
    boss.get(f"{ADMIN}/copilot/publish/?id={copilot.pk}")
    page = boss.get(f"{ADMIN}/copilot/publish/?id={copilot.pk}")
    (draft,) = page.context["drafts"]
    seen = {"draft": f"{copilot.pk}:{draft.digest}", f"note-{copilot.pk}": "First"}
    boss.post(f"{ADMIN}/copilot/publish/?id={copilot.pk}", seen)
    action, _, before, after = told(newest())
    assert (action, before, after["live"], after["note"]) == ("published", {}, 1, "First")
    boss.post(f"{ADMIN}/copilot/archive/?id={copilot.pk}")
    assert told(newest()) == ("archived", "copilot", {}, {})
    boss.post(f"{ADMIN}/copilot/{copilot.pk}/restore/")
    boss.post(
        f"{ADMIN}/copilot/export/",
        {"slug": ["macro"], "format": "json", "files": "one", "what": "draft"},
    )
    facts = {"copilots": ["macro"], "format": "json", "live": False}
    assert told(newest()) == ("exported", "copilot", {}, facts)


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
