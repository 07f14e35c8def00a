"""Images on the web are fetched once when a builder saves, kept, and shown from here."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.copilots import images
from copilot_admin.copilots.images import fetch_copies, stored_image
from copilot_admin.import_export.exporting import export_file
from copilot_admin.import_export.importing import import_values
from copilot_admin.models import Copilot
from tests.admin.pages import read_form, url_of
from tests.agent.files.sample_files import image
from tests.factories import make_copilot, make_published
from tests.http_stub import files_served

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(settings: Any, tmp_path: Path) -> Iterator[str]:
    settings.MEDIA_ROOT = tmp_path
    settings.FETCH_ALLOW = ["127.0.0.1"]
    served = {
        "/a.png": image(),
        "/b.png": image(size=(5, 5)),
        "/large.png": b"\x89PNG" + b"\0" * 2**20,
        "/logo.svg": b"<svg/>",
    }
    with files_served(served) as address:
        yield address


def save(client: Client, copilot: Copilot, **changes: str) -> Any:
    values = read_form(client, url_of(copilot), form_id="copilot_form")
    return client.post(url_of(copilot), {**values, "_continue": "x", **changes}, follow=True)


def sentences(response: Any) -> list[str]:
    return [str(one) for one in response.context["messages"]]


def test_what_cannot_be_fetched_is_told_and_stays_a_link(server, settings):
    gone, large, logo = (f"{server}/{name}" for name in ("no.png", "large.png", "logo.svg"))
    assert fetch_copies([gone, large, logo]).keys() == {gone, large, logo}
    settings.FETCH_ALLOW = []
    private = f"{server}/a.png"
    assert fetch_copies([private]).keys() == {private}
    assert [stored_image(one) for one in (gone, private)] == ["", ""]


def test_saving_fetches_the_image_and_the_admin_shows_it_from_here(server, builder):
    copilot = make_copilot()
    address = f"{server}/a.png"
    response = save(builder, copilot, image_url=address)
    assert len(sentences(response)) == 1
    page = response.content.decode()
    shown = url_of(copilot, "image")
    assert f'src="{shown}?v=' in page
    assert f'src="{shown}?v=' in builder.get("/admin/").content.decode()
    answer = builder.get(shown)
    assert answer["Content-Type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG")


def test_the_preview_shows_the_copy_only_while_its_address_stands_there(server, builder):
    copilot = make_copilot(image_url=f"{server}/a.png")
    fetch_copies([copilot.image_url])
    values = read_form(builder, url_of(copilot), form_id="copilot_form")
    url = f"{reverse('admin:copilot_admin_copilot_preview')}?id={copilot.pk}"
    same = builder.post(url, values).content.decode()
    other = builder.post(url, {**values, "image_url": f"{server}/b.png"}).content.decode()
    wrong = builder.post(url, {**values, "image_url": "javascript:alert(1)"}).content.decode()
    assert ["<img" in page for page in (same, other, wrong)] == [True, False, False]
    assert 'href="javascript' not in wrong


def test_a_link_that_leads_nowhere_is_saved_with_a_warning(server, builder):
    copilot = make_copilot()
    address = f"{server}/no.png"
    response = save(builder, copilot, image_url=address)
    _saved, warning = sentences(response)
    assert address in warning
    copilot.refresh_from_db()
    assert copilot.image_url == address
    shown = url_of(copilot, "image")
    assert builder.get(shown).status_code == 404


def test_workspace_loads_a_fetched_image_from_here_and_another_from_its_address(server, client):
    address = f"{server}/a.png"
    make_published(slug="seer", image_url=address, access="open")
    assert client.get("/agents.json").json()["seer"]["image"] == address
    assert client.get("/v1/copilots/seer/image").status_code == 404
    fetch_copies([address])
    assert client.get("/agents.json").json()["seer"]["image"].endswith("/v1/copilots/seer/image")
    answer = client.get("/v1/copilots/seer/image")
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer.content.startswith(b"\x89PNG")


def test_a_file_is_imported_without_network_and_exported_as_it_came(server, monkeypatch):
    monkeypatch.setattr(images, "Egress", None)
    address = f"{server}/a.png"
    file = {
        "format": 1,
        "providers": [{"name": "P", "kind": "demo"}],
        "copilots": [
            {"slug": "a", "name": "A", "provider": "P", "model": "demo", "image": address}
        ],
    }
    import_values(file, default_access="key", publishing=True)
    assert export_file()["copilots"][0]["image"] == address
    monkeypatch.undo()
    fetch_copies([address])
    assert export_file()["copilots"][0]["image"] == address
    [_, again] = import_values(file, default_access="key", publishing=True)
    assert (again.differences, again.published) == ((), None)
