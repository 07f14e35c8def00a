"""Images in a copilot file: data URIs there, harmless PNG files here."""

import base64
import binascii
import hashlib

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from copilot_admin.copilots.uploaded_images import harmless_png
from copilot_admin.errors import ConfigurationError

FOLDER = "copilots/"
_PNG_START = "data:image/png;base64,"


def png_in(data_uri: str) -> bytes:
    """The picture of a data URI, written anew.

    Raises:
        ConfigurationError: It is no picture that can be used.
    """
    head, _, body = data_uri.partition(",")
    if not head.endswith(";base64"):
        raise ConfigurationError("Write the image as data:image/png;base64,… or as an address.")
    try:
        data = base64.b64decode("".join(body.split()), validate=True)
    except binascii.Error as error:
        raise ConfigurationError("The image is not valid base64.") from error
    return harmless_png(data)


def name_of(png: bytes) -> str:
    """Where a picture is kept. The name comes from its bytes: the same picture is no change."""
    return f"{FOLDER}{hashlib.sha256(png).hexdigest()[:32]}.png"


def keep(png: bytes) -> None:
    """Stores a picture under its name."""
    if not default_storage.exists(name_of(png)):
        default_storage.save(name_of(png), ContentFile(png))


def data_uri_of(name: str) -> str:
    """A stored picture as a data URI; empty when its file is gone."""
    if not default_storage.exists(name):
        return ""
    with default_storage.open(name) as file:
        return _PNG_START + base64.b64encode(file.read()).decode("ascii")
