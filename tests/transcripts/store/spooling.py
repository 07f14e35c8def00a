"""A spool in a folder of its own, and what the end of a run leaves in the database."""

from datetime import timedelta
from pathlib import Path

from django.db import connection, transaction
import pytest

from copilot_admin.models import Checkpoint
from copilot_admin.transcripts.store.end_rows import finish
from tests.transcripts.store.journaling import START

LATER = START + timedelta(seconds=5)


@pytest.fixture(autouse=True)
def spool(settings, tmp_path) -> Path:
    settings.DATA_DIR = tmp_path
    return Path(tmp_path) / "spool"


def checkpoints() -> int:
    try:
        return Checkpoint.objects.count()
    finally:
        connection.close()


def store(end) -> bool:
    with transaction.atomic():
        return finish(end) is not None
