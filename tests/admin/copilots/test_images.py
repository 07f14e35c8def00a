"""Uploaded pictures are decoded, freed of everything but their pixels, and never run."""

from io import BytesIO
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image, PngImagePlugin
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.images import MAX_BYTES, harmless_png
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.changes import Effect
from copilot_admin.import_export.exporting import export_file
from copilot_admin.import_export.formats import write_yaml
from copilot_admin.import_export.importing import import_file
from copilot_admin.models import Copilot
from tests.admin.pages import errors_of, read_form, url_of, values_in
from tests.factories import make_copilot, make_user

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def picture(kind: str = "PNG", size: tuple[int, int] = (8, 4), **options: Any) -> bytes:
    out = BytesIO()
    Image.new("RGB", size, (200, 30, 40)).save(out, format=kind, **options)
    return out.getvalue()


def secretive_png() -> bytes:
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", "<script>alert(1)</script> canary-text")
    return picture(pnginfo=info)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a" + b"\0" * 50,
        SVG,
        b"\x89PNG\r\n\x1a\n" + SVG,
        picture()[:40],
        picture("JPEG")[:100],
        picture("BMP"),
    ],
    ids=lambda data: repr(data[:12]),
)
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(ConfigurationError):
        harmless_png(data)


def test_too_many_bytes_are_refused_unread() -> None:
    with pytest.raises(ConfigurationError, match="1 MB"):
        harmless_png(b"\0" * (2 * MAX_BYTES))


@pytest.fixture
def builder(client: Client, settings: Any, tmp_path: Any) -> Client:
    settings.MEDIA_ROOT = tmp_path
    client.force_login(make_user(Role.BUILDERS))
    return client


def upload(client: Client, copilot: Copilot, data: bytes, **changes: str) -> Any:
    url = url_of(copilot)
    values = read_form(client, url, form_id="copilot_form")
    file = SimpleUploadedFile("../../evil.svg", data, content_type="image/svg+xml")
    return client.post(url, {**values, "upload": file, "_continue": "x", **changes}, follow=True)


@pytest.mark.django_db
def test_an_uploaded_picture_has_a_name_of_its_content_and_is_served_inert(builder: Client) -> None:
    copilot = make_copilot()
    upload(builder, copilot, secretive_png())
    copilot.refresh_from_db()
    name = str(copilot.image.name)
    assert name.startswith("copilots/")
    assert name.endswith(".png")
    assert "evil" not in name
    again = import_file(write_yaml(export_file()).encode(), default_access="key")
    assert {change.effect for change in again} == {Effect.UNCHANGED}

    response = builder.get(url_of(copilot, "image"))
    body = response.content
    assert body.startswith(b"\x89PNG")
    assert b"canary" not in body
    assert response["Content-Type"] == "image/png"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"


@pytest.mark.django_db
def test_a_refused_picture_is_told_next_to_the_field(builder: Client) -> None:
    copilot = make_copilot()
    response = upload(builder, copilot, SVG)
    assert list(errors_of(response)) == ["upload"]
    copilot.refresh_from_db()
    assert not copilot.image


@pytest.mark.django_db
def test_a_chosen_picture_survives_a_rejected_form(builder: Client) -> None:
    copilot = make_copilot()
    rejected = upload(builder, copilot, picture(), name="")
    copilot.refresh_from_db()
    assert not copilot.image
    url = url_of(copilot)
    values = values_in(rejected.content.decode(), form_id="copilot_form")
    for pending, is_kept in (("copilots/other.png:forged", False), (None, True)):
        changes = {} if pending is None else {"pending_image": pending}
        sent = {**values, "name": "Named", "_continue": "x", "seen": "", **changes}
        builder.post(url, sent)
        copilot.refresh_from_db()
        assert bool(copilot.image) is is_kept
