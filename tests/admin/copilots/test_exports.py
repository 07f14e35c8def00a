"""The export page: copilots are chosen, and come as one file or as a ZIP of them."""

import io
from zipfile import ZipFile

from django.test import Client
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.providers import set_api_key
from copilot_admin.import_export.formats import load
from copilot_admin.import_export.uploads import UploadedFile, read_files
from tests.factories import make_copilot, make_provider, make_published, make_user

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/copilot/"
PAGE = f"{LIST}export/"


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
