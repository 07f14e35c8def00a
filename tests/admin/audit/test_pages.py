"""Auditors find entries, read what was and what is, and take them along; nobody else sees them."""

import csv
from datetime import UTC, datetime
from io import StringIO
import json
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.models import Permission
from django.test import Client
import pytest

from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.config.roles import Role
from copilot_admin.models.audit import Action, ActorKind, AuditEntry
from tests.factories import make_provider, make_user

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/auditentry/"
ANNA = Actor(kind=ActorKind.PERSON, name="anna", id=7, address="192.0.2.7")
DEPLOY = Actor(kind=ActorKind.COMMAND, name="deploy")


@pytest.fixture
def auditor() -> Client:
    browser = Client()
    browser.force_login(make_user(Role.AUDITORS))
    return browser


def content_of(response: Any) -> bytes:
    """Return a file that is streamed by an asynchronous generator."""

    async def read() -> bytes:
        return b"".join([part async for part in response.streaming_content])

    return async_to_sync(read)()


def numbers(browser: Client, **query: str) -> list[int]:
    return [one.sequence for one in browser.get(LIST, query).context["cl"].result_list]


@pytest.fixture
def five(auditor: Client, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Entries of five days, after that of the log-in."""
    days = iter(datetime(2030, 1, day, 12, tzinfo=UTC) for day in range(1, 6))
    monkeypatch.setattr("copilot_admin.audit.recording.timezone.now", lambda: next(days))
    made = [
        record(Action.CHANGED, by=ANNA, on=Subject("copilot", "1", "Macro")),
        record(Action.PUBLISHED, by=ANNA, on=Subject("copilot", "1", "Macro")),
        record(Action.CHANGED, by=DEPLOY, on=Subject("copilot", "2", "Rates")),
        record(Action.ADDED, by=ANNA, on=Subject("provider", "1", "Bank")),
        record(Action.READ, by=DEPLOY, on=Subject("conversation", "9")),
    ]
    monkeypatch.undo()
    return [one.sequence for one in made]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"who": "anna"}, [3, 1, 0]),
        ({"action": "changed"}, [2, 0]),
        ({"kind": "copilot"}, [2, 1, 0]),
        ({"kind": "copilot", "subject": "1"}, [1, 0]),
        ({"since": "2030-01-02", "until": "2030-01-04"}, [3, 2, 1]),
        ({"since": "2030-01-05"}, [4]),
        ({"who": "anna", "action": "changed", "since": "2030-01-02"}, []),
        ({"who": "deploy", "action": "read", "kind": "conversation", "subject": "9"}, [4]),
        ({"who": "nobody"}, []),
        ({"action": "nonsense"}, []),
        ({"since": "yesterday"}, []),
        ({"until": "9999-12-31"}, []),
    ],
)
def test_filters_find_what_they_say(
    auditor: Client, five: list[int], query: dict[str, str], expected: list[int]
) -> None:
    assert numbers(auditor, **query) == [five[one] for one in expected]


def test_the_types_to_filter_by_are_those_in_the_log_by_their_names(
    auditor: Client, five: list[int]
) -> None:
    record(Action.EXPORTED, by=ANNA, on=Subject("analytics"))
    record(Action.ADDED, by=ANNA, on=Subject("endpointkey", "1"))

    def types(**query: str) -> list[tuple[str, str]]:
        filters = auditor.get(LIST, query).context["cl"].filter_specs
        found: list[tuple[str, str]] = next(
            one.lookup_choices for one in filters if one.title == "type"
        )
        return found

    in_log = [
        ("analytics", "Analytics"),
        ("endpointkey", "API key"),
        ("conversation", "Conversation"),
        ("copilot", "Copilot"),
        ("provider", "Provider"),
        ("user", "User"),
    ]
    assert types() == in_log
    assert types(kind="zebra") == [*in_log, ("zebra", "Zebra")]


def test_an_entry_shows_what_was_and_what_is_as_text(auditor: Client) -> None:
    before, after = {"name": "<b>old</b> name"}, {"name": "<b>new</b> name", "n": {"a": 1}}
    on = Subject("copilot", "1", "<script>x")
    entry = record(Action.CHANGED, by=ANNA, on=on, before=before, after=after)
    page = auditor.get(f"{LIST}{entry.pk}/change/").text
    assert "<del>old</del><ins>new</ins>" in page
    assert "&lt;b&gt;" in page
    assert "&lt;script&gt;x" in page
    assert "<script>x" not in page
    assert "ca-chip--good" in page
    assert "ca-chip--bad" not in page


def test_a_value_that_was_not_set_is_shown_as_nothing(auditor: Client) -> None:
    before = {"retention_days": None, "max_data_tokens": 500, "description": None}
    after = {"retention_days": 9, "max_data_tokens": None, "description": "", "published": None}
    entry = record(Action.IMPORTED, by=ANNA, on=Subject("copilot"), before=before, after=after)
    page = auditor.get(f"{LIST}{entry.pk}/change/")
    assert [
        [(part.kind, part.text) for part in change.parts] for change in page.context["changes"]
    ] == [[("gone", "500")], [("new", "9")]]


def test_a_link_leads_to_what_is_there_for_those_who_may_see_it(auditor: Client) -> None:
    provider = make_provider()
    entry = record(Action.CHANGED, by=ANNA, on=Subject.of(provider))
    gone = record(Action.DELETED, by=ANNA, on=Subject("provider", "999"))
    nothing = record(Action.EXPORTED, by=ANNA, on=Subject("analytics"))
    link = f"/admin/copilot_admin/provider/{provider.pk}/change/"

    def address(entry: AuditEntry, browser: Client) -> Any:
        return browser.get(f"{LIST}{entry.pk}/change/").context["url"]

    assert [address(one, auditor) for one in (entry, gone, nothing)] == [link, "", ""]
    stranger = make_user(Role.BUILDERS)
    stranger.user_permissions.add(Permission.objects.get(codename="view_auditentry"))
    browser = Client()
    browser.force_login(stranger)
    assert address(entry, browser) == ""


def test_what_is_found_is_taken_along_as_csv_without_formulas(
    auditor: Client, five: list[int]
) -> None:
    record(Action.CHANGED, by=ANNA, on=Subject("copilot", "3", "=HYPERLINK(1)"))
    response: Any = auditor.get(f"{LIST}file/", {"format": "csv", "who": "anna"})
    text = content_of(response).decode("utf-8-sig")
    rows = list(csv.DictReader(StringIO(text, newline="")))
    assert [int(one["sequence"]) for one in rows][:3] == [five[0], five[1], five[3]]
    assert rows[-1]["subject_name"] == "'=HYPERLINK(1)"
    assert response["Content-Disposition"].startswith('attachment; filename="audit-')
    last = AuditEntry.objects.all()[0]
    assert (last.action, last.subject_kind) == ("exported", "auditentry")
    assert json.loads(last.after) == {"filters": {"who": "anna"}, "format": "csv"}


def test_a_file_says_nothing_to_those_without_the_permission() -> None:
    browser = Client()
    browser.force_login(make_user(Role.OPERATORS))
    for page in (LIST, f"{LIST}1/change/", f"{LIST}file/?format=csv", f"{LIST}1/history/"):
        assert browser.get(page).status_code == 403
