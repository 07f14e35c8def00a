"""The export page: copilots are chosen, and come as one file or as a ZIP of them."""

import io
from typing import Any
from zipfile import ZipFile

from django.contrib.auth.models import Permission
from django.test import Client
import pytest

from copilot_admin.admin.copilots import exports
from copilot_admin.config.roles import Role
from copilot_admin.copilots.archive import archive_copilots
from copilot_admin.copilots.providers import set_api_key
from copilot_admin.import_export.reading import load
from copilot_admin.import_export.uploads import UploadedFile, read_files
from copilot_admin.jobs.deletion import mark_for_deletion
from tests.factories import make_copilot, make_provider, make_published, make_user

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/copilot/"
PAGE = f"{LIST}export/"


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS))
    return client


def slugs_on(response: Any) -> list[str]:
    return [row["slug"] for row in response.context["copilots"]]


def test_copilots_are_found_by_words_and_tags(builder: Client) -> None:
    make_copilot(slug="a", name="Alpha", tags=["Macro"])
    make_copilot(slug="b", name="Beta", tags=["macro"])
    make_copilot(slug="c", name="Gamma")
    archive_copilots([make_copilot(slug="old").pk])
    mark_for_deletion([make_copilot(slug="gone").pk])
    assert slugs_on(builder.get(PAGE)) == ["a", "b", "c"]
    assert slugs_on(builder.get(PAGE, {"q": "ALPH"})) == ["a"]
    assert slugs_on(builder.get(PAGE, {"tag": "Macro"})) == ["a", "b"]
    assert "ca-empty" in builder.get(PAGE, {"q": "zzz"}).content.decode()


def test_one_file_holds_what_was_chosen(builder: Client) -> None:
    make_copilot(slug="a")
    make_copilot(slug="b", description="Ω")
    response = builder.post(PAGE, {"slug": ["b"]})
    assert response["Content-Disposition"].startswith('attachment; filename="copilots-')
    assert response["Content-Disposition"].endswith('.yaml"')
    values = load(response.content)
    assert [(row["slug"], row["description"]) for row in values["copilots"]] == [("b", "Ω")]
    assert values["providers"] == []


def test_a_zip_holds_a_file_for_each_that_can_be_imported(builder: Client) -> None:
    make_published(slug="a", description="live")
    make_published(slug="b")
    data = {"slug": ["a", "b", "a"], "files": "each", "format": "json", "what": "live"}
    response = builder.post(PAGE, data)
    with ZipFile(io.BytesIO(response.content)) as archive:
        assert archive.namelist() == ["a.json", "b.json"]
    assert len(read_files([UploadedFile("all.zip", response.content)])) == 2


def test_many_are_written_as_json(builder: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MOST_AS_YAML", 1)
    make_copilot(slug="a")
    make_copilot(slug="b")
    assert builder.get(PAGE).context["json"]
    data = {"slug": ["a", "b"], "files": "each"}
    page = builder.post(PAGE, data).content.decode()
    assert "YAML is for 1 copilots at most. Choose fewer, or JSON." in page
    assert 'value="each" checked' in page
    assert builder.post(PAGE, {**data, "format": "json"})["Content-Type"] == "application/zip"


def test_only_who_sees_providers_is_told_where_they_are_and_nobody_gets_a_key(
    client: Client,
) -> None:
    provider = make_provider(name="P", base_url="https://llm.internal/v1")
    set_api_key(provider, "sk-very-secret")
    provider.save()
    make_copilot(slug="a", provider=provider)
    client.force_login(make_user(is_superuser=True))
    told = client.post(PAGE, {"slug": ["a"]}).content.decode()
    assert "llm.internal" in told
    client.force_login(make_user(Role.BUILDERS))
    untold = client.post(PAGE, {"slug": ["a"]}).content.decode()
    assert "llm.internal" not in untold
    assert "provider: P" in untold
    assert "secret" not in told + untold


def test_who_may_look_may_export_and_others_may_not(client: Client) -> None:
    make_copilot(slug="a")
    user = make_user()
    client.force_login(user)
    assert client.post(PAGE, {"slug": ["a"]}).status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="view_copilot"))
    assert client.post(PAGE, {"slug": ["a"]}).status_code == 200
