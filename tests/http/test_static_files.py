"""Static files of every app come from their folders; nothing else is answered there."""

from pathlib import Path
from unittest.mock import Mock

from django.contrib.staticfiles.finders import FileSystemFinder
import pytest

from copilot_admin.http import static_files as edge_static_files
from copilot_admin.http.asgi_types import App
from copilot_admin.http.static_files import static_files
from tests.http.asgi_client import call, scope
from tests.http.test_edge import echo


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder with static files."""
    finder = Mock(FileSystemFinder, storages={"": Mock(location=str(tmp_path))})
    monkeypatch.setattr(edge_static_files, "get_finders", lambda: [finder])
    return tmp_path


def served(app: App, path: str) -> tuple[str | None, bytes]:
    answer = call(app, scope(path, query_string=b""), body=[b"asked"])
    return answer.header("content-length"), answer.body


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/static/admin/css/base.css", "text/css"),
        ("/static/copilot_admin/css/base.css", "text/css"),
    ],
)
def test_a_file_of_any_app_is_served_and_other_origins_may_not_read_it(path, kind):
    answer = call(static_files(echo), scope(path, query_string=b""))
    assert (answer.status, answer.header("access-control-allow-origin")) == (200, None)
    assert (answer.header("content-type") or "").partition(";")[0] == kind
    assert answer.body


@pytest.mark.parametrize(
    "path",
    [
        "/static/admin/css/none.css",
        "/static/admin/css/../css/base.css",
        "/static/../urls.py",
        "/static/admin/css",
        "/static/\0",
        "/admin/css/base.css",
        "/admin/",
    ],
)
def test_everything_else_is_handed_on(path):
    assert call(static_files(echo), scope(path, query_string=b""), body=[b"asked"]).body == b"asked"


def test_a_file_that_an_upgrade_replaces_comes_whole(folder):
    file = folder / "a.js"
    file.write_bytes(b"old")
    app = static_files(echo)
    assert served(app, "/static/a.js") == ("3", b"old")
    file.write_bytes(b"newer")
    assert served(app, "/static/a.js") == ("5", b"newer")
    file.write_bytes(b"a")
    assert served(app, "/static/a.js") == ("1", b"a")


def test_a_file_that_an_upgrade_takes_away_or_brings_is_not_there_or_is(folder):
    file = folder / "a.js"
    file.write_bytes(b"old")
    app = static_files(echo)
    file.unlink()
    assert served(app, "/static/a.js") == (None, b"asked")
    (folder / "b.js").write_bytes(b"new")
    assert served(app, "/static/b.js") == ("3", b"new")
