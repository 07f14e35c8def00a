"""A file of SQLite that is replaced under a server takes no more writes that nobody would see."""

from collections.abc import Iterator
import errno
import os
from pathlib import Path

from django.db import OperationalError
import pytest

from copilot_admin.models import Provider
from copilot_admin.storage.same_file import DATABASE_FILE
from copilot_admin.storage.writer import Writer
from tests.waiting import HANGS_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "copilot.sqlite3"
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).touch()
    DATABASE_FILE.remember(path)
    yield path
    DATABASE_FILE.forget()


@pytest.fixture
def writer() -> Iterator[Writer]:
    thread = Writer("test-writer")
    yield thread
    assert thread.stop(timeout=HANGS_SECONDS)


def replace(path: Path) -> None:
    other = path.with_name("backup")
    other.touch()
    other.replace(path)


def move_away(path: Path) -> None:
    path.rename(path.with_name("away"))


def make() -> str:
    return Provider.objects.create(name="One", kind="rehearsal").name


def names() -> list[str]:
    return [provider.name for provider in Provider.objects.all()]


def refuse(path: Path, **options: object) -> None:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def test_the_file_that_a_server_started_with_takes_writes(file, writer):
    assert writer.submit(make).result(HANGS_SECONDS) == "One"


@pytest.mark.parametrize("harm", [replace, move_away])
def test_nothing_is_committed_when_another_file_has_its_name(file, writer, harm):
    """Clients heard a clean end of answers that went into a file that was not there any more."""
    harm(file)
    assert isinstance(writer.submit(make).exception(HANGS_SECONDS), OperationalError)
    assert not Provider.objects.exists()


@pytest.mark.parametrize("end", ["-wal", "-shm"])
def test_nothing_is_committed_when_the_log_was_removed_also_if_there_is_another(file, writer, end):
    """Twenty of 180 answers that had ended well were in no file afterwards."""
    assert writer.submit(make).result(HANGS_SECONDS) == "One"
    replace(file.with_name(file.name + end))
    other = writer.submit(lambda: Provider.objects.create(name="Two", kind="rehearsal"))
    assert isinstance(other.exception(HANGS_SECONDS), OperationalError)
    assert not Provider.objects.filter(name="Two").exists()
    assert DATABASE_FILE.is_replaced


def test_who_opens_the_database_anew_may_find_another_log(file):
    DATABASE_FILE.check(object())
    replace(file.with_name(file.name + "-wal"))
    DATABASE_FILE.check(object())
    assert not DATABASE_FILE.is_replaced


def test_a_file_that_comes_back_takes_writes_again(file, writer):
    move_away(file)
    assert DATABASE_FILE.is_replaced
    file.with_name("away").rename(file)
    assert writer.submit(make).result(HANGS_SECONDS) == "One"


def test_a_folder_that_is_moved_away_and_comes_back_takes_writes_again(file, writer):
    """Its log was taken for one that was removed: the server took no question until it was restarted."""
    assert writer.submit(make).result(HANGS_SECONDS) == "One"
    away = file.parent.with_name("away")
    file.parent.rename(away)
    assert isinstance(writer.submit(names).exception(HANGS_SECONDS), OperationalError)
    assert DATABASE_FILE.is_replaced
    away.rename(file.parent)
    assert not DATABASE_FILE.is_replaced
    assert writer.submit(names).result(HANGS_SECONDS) == ["One"]


def test_files_that_cannot_be_looked_at_for_the_moment_are_not_taken_for_others(
    file, writer, monkeypatch
):
    """A folder without the right to enter it kept the server from going on when it had it again."""
    assert writer.submit(make).result(HANGS_SECONDS) == "One"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "stat", refuse)
        assert isinstance(writer.submit(names).exception(HANGS_SECONDS), OperationalError)
        assert not DATABASE_FILE.is_replaced
    assert writer.submit(names).result(HANGS_SECONDS) == ["One"]


def test_a_database_that_is_no_file_is_not_looked_at(writer):
    assert not DATABASE_FILE.is_replaced
    assert writer.submit(make).result(HANGS_SECONDS) == "One"
