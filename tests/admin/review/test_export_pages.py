"""The pages of exports, by whoever began one and by others: from the filtered list to the file."""

import asyncio
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.test import AsyncClient
from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.jobs.tasks import BACKGROUND
from copilot_admin.models import ExportState, TranscriptExport
from tests.admin.pages import submit
from tests.admin.transcripts.test_list import LIST
from tests.factories import make_user, make_version, sign_in
from tests.polling import HANGS_SECONDS
from tests.transcripts.exports.exporting import begun, content_of, finished
from tests.transcripts.store.journaling import Client

pytestmark = pytest.mark.django_db
EXPORTS = "/admin/copilot_admin/transcriptexport/"
ADD = f"{EXPORTS}add/"
HOSTILE = "<script>alert(1)</script>"


def ask(text: str = "Rates?", *, slug: str = "desk") -> None:
    version = make_version(slug=slug, system_prompt="Be brief.")
    Client(version=version, trace_id="t").ask(text).answer("Yes.")


def test_the_list_leads_to_the_export_of_what_it_shows(reviewer: Browser):
    ask()
    ask(slug="other")
    listed = reviewer.get(LIST, {"copilot": "desk"}).content.decode()
    path = f"{ADD}?_changelist_filters=copilot%3Ddesk"
    assert path in listed
    page = reviewer.get(path).content.decode()
    assert 'data-number="1"' in page
    assert "Copilot: Copilot" in page
    assert 'name="with_prompts"' not in page


@pytest.mark.django_db(transaction=True)
def test_an_export_is_written_and_downloaded(reviewer: Browser):
    background_tasks.start()
    ask("=1+1")
    path = f"{ADD}?_changelist_filters=copilot%3Ddesk"
    submit(reviewer, path, {"format": "csv"}, form_id="export-form")
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    export = TranscriptExport.objects.get()
    page = reviewer.get(f"{EXPORTS}{export.pk}/change/").content.decode()
    assert f'href="{EXPORTS}{export.pk}/file/"' in page
    assert "data-unfinished" not in page
    response = reviewer.get(f"{EXPORTS}{export.pk}/file/")
    data = content_of(response.streaming_content)  # type: ignore[attr-defined]
    assert "'=1+1" in data.decode("utf-8-sig")
    day = export.made_at.date().isoformat()
    name = f"transcripts-{day}-{export.pk}.csv"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    assert response["Content-Length"] == str(len(data))
    assert response["X-Content-Type-Options"] == "nosniff"
    assert name in reviewer.get(EXPORTS).content.decode()
    assert LogEntry.objects.get().change_message == name


@pytest.mark.django_db(transaction=True)
def test_a_download_streams_in_the_loop_of_a_server():
    user = make_user(Role.REVIEWERS)
    export = finished("html", owner=user)
    client = AsyncClient()
    client.force_login(user)

    async def download() -> list[bytes]:
        response: Any = await client.get(f"{EXPORTS}{export.pk}/file/")
        assert response.is_async
        return [piece async for piece in response.streaming_content]

    assert asyncio.run(download()) == [b"one,", b"two"]


@pytest.mark.parametrize("may_see", [True, False])
def test_only_who_may_see_system_prompts_exports_them(may_see: bool):
    ask()
    roles = [Role.REVIEWERS, *([Role.BUILDERS] if may_see else [])]
    sent = {"format": "jsonl", "with_prompts": "on", "with_data": "on"}
    sign_in(make_user(*roles)).post(ADD, sent)
    export = TranscriptExport.objects.get()
    assert (export.with_prompts, export.with_data, export.format) == (may_see, True, "jsonl")


@pytest.mark.parametrize("sent", [{}, {"format": "xlsx"}])
def test_a_format_that_there_is_not_is_refused(reviewer: Browser, sent: dict[str, str]):
    ask()
    assert "errorlist" in reviewer.post(ADD, sent).content.decode()
    assert not TranscriptExport.objects.exists()


def test_an_export_is_for_its_owner_and_for_admins():
    owner = make_user(Role.REVIEWERS)
    export = finished(owner=owner)
    paths = [f"{EXPORTS}{export.pk}/{one}/" for one in ("change", "state", "file")]
    others = [
        make_user(*one, is_superuser=not one) for one in ([], [Role.REVIEWERS], [Role.BUILDERS])
    ]
    for user, status in zip((owner, *others), (200, 200, 404, 403), strict=True):
        browser = sign_in(user)
        assert {browser.get(path).status_code for path in paths} == {status}
    other = sign_in(make_user(Role.REVIEWERS))
    assert other.post(f"{EXPORTS}{export.pk}/discard/").status_code == 404
    assert "transcripts-" not in other.get(EXPORTS).content.decode()


@pytest.mark.parametrize("codename", ["view_conversation", "export_conversation"])
def test_an_export_needs_both_permissions(codename: str):
    group = Group.objects.create(name="Half")
    group.permissions.add(Permission.objects.get(codename=codename))
    browser = sign_in(make_user("Half"))
    assert browser.get(ADD).status_code == browser.post(ADD, {"format": "csv"}).status_code == 403
    if codename == "view_conversation":
        assert ADD not in browser.get(LIST).content.decode()


def test_who_lost_a_permission_gets_no_file():
    owner = make_user(Role.REVIEWERS, Role.BUILDERS)
    export = finished("jsonl", owner=owner)
    TranscriptExport.objects.update(with_prompts=True)
    browser, path = sign_in(owner), f"{EXPORTS}{export.pk}/file/"
    assert browser.get(path).status_code == 200
    owner.groups.remove(Group.objects.get(name=Role.BUILDERS))
    assert browser.get(path).status_code == 403
    assert browser.get(f"{EXPORTS}{export.pk}/change/").status_code == 200  # to delete it
    TranscriptExport.objects.update(with_prompts=False)
    owner.groups.clear()
    assert browser.get(path).status_code == 403


def test_an_export_that_is_being_written_is_watched_and_stopped():
    owner = make_user(Role.REVIEWERS)
    export = begun(owner=owner)
    browser = sign_in(owner)
    assert "data-unfinished" in browser.get(f"{EXPORTS}{export.pk}/state/").content.decode()
    assert browser.get(f"{EXPORTS}{export.pk}/file/").status_code == 404
    browser.post(f"{EXPORTS}{export.pk}/stop/")
    assert TranscriptExport.objects.get().state == ExportState.STOPPED
    assert browser.post(f"{EXPORTS}{export.pk}/stop/").status_code == 302


def test_hostile_filters_stay_text():
    owner = make_user(Role.REVIEWERS)
    ask()
    export = begun(owner=owner, q=HOSTILE)
    TranscriptExport.objects.update(error=HOSTILE, format=HOSTILE[:20])
    browser = sign_in(owner)
    pages = [
        browser.get(f"{EXPORTS}{export.pk}/change/"),
        browser.get(EXPORTS),
        browser.get(ADD, {"_changelist_filters": f"q={HOSTILE}"}),
    ]
    assert [HOSTILE in page.content.decode() for page in pages] == [False] * 3
    assert [HOSTILE[:20] in page.content.decode() for page in pages] == [False] * 3
