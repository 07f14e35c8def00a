"""Sweep the image files of copilots that are gone."""

from collections.abc import Iterator
from datetime import timedelta

from django.core.files.storage import default_storage
from django.utils import timezone

from copilot_admin.copilots.fields.codecs import image_of
from copilot_admin.copilots.remote_images import stored_image
from copilot_admin.models import Copilot, CopilotVersion
from copilot_admin.storage.many import by_key

FOLDERS = ("copilots", "copilots/remote")
VERSIONS_AT_ONCE = 50  # documents, of megabytes at the worst
FRESH = timedelta(hours=1)  # an image is written before the row that names it is committed


def sweep_images() -> int:
    """Deletes the files that no draft and no version shows.

    Returns:
        How many there were.
    """
    shown = set(_shown())
    old = timezone.now() - FRESH
    gone = [
        name
        for name in _files()
        if name not in shown and default_storage.get_modified_time(name) < old
    ]
    for name in gone:
        default_storage.delete(name)
    return len(gone)


def _shown() -> Iterator[str]:
    for copilot in by_key(Copilot.objects.only("image", "image_url")):
        yield stored_image(image_of(copilot))
    for version in by_key(CopilotVersion.objects.only("document"), size=VERSIONS_AT_ONCE):
        yield stored_image(str(version.document.get("image") or ""))


def _files() -> Iterator[str]:
    for folder in FOLDERS:
        if default_storage.exists(folder):
            yield from (f"{folder}/{name}" for name in default_storage.listdir(folder)[1])
