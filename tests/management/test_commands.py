"""The commands that people and scripts rely on."""

from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import CommandError, call_command
import pytest
import uvicorn

from copilot_admin.management.commands import copilots
from copilot_admin.models import Copilot, EndpointKey
from copilot_admin.models.access import hash_key
from tests.factories import make_copilot

ROOT = Path(__file__).parent.parent.parent
GOOD = """
format: 1
providers: [{name: R, kind: demo}]
copilots: [{slug: a, name: A, provider: R, model: demo, description: one}]
"""


def _run(*arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def good_file(tmp_path: Path) -> Path:
    file = tmp_path / "copilots.yaml"
    file.write_text(GOOD)
    return file


@pytest.mark.database
@pytest.mark.django_db
def test_import_reports_its_changes(good_file):
    told = _run("copilots", "import", str(good_file), "--publish").splitlines()
    assert told[:4] == [
        "provider R: created",
        '  name: (none) -> "R"',
        '  kind: (none) -> "demo"',
        "copilot a: created, published as version 1",
    ]
    assert '  access: (none) -> "open"' in told  # the default in development

    good_file.write_text(GOOD.replace("one", "two" * 100))
    told = _run("copilots", "import", str(good_file), "--publish").splitlines()
    assert told[:2] == ["provider R: unchanged", "copilot a: changed, published as version 2"]
    assert told[2].startswith('  description: "one" -> "twotwo')
    assert told[2].endswith("…")


@pytest.mark.django_db
def test_a_dry_run_changes_nothing(good_file):
    told = _run("copilots", "import", str(good_file), "--dry-run")
    assert told.splitlines()[-1] == "Nothing was changed (--dry-run)."
    assert "copilot a: created" in told
    assert not Copilot.objects.exists()


@pytest.mark.django_db
def test_an_invalid_file_is_reported_line_by_line(good_file):
    good_file.write_text("format: 1\ncopilots: [{slug: A}]")
    with pytest.raises(CommandError) as refused:
        _run("copilots", "import", str(good_file))
    assert len(str(refused.value).splitlines()) == 4


@pytest.mark.django_db
def test_export_writes_yaml_json_and_files(tmp_path, good_file):
    _run("copilots", "import", str(good_file))
    for name in ("out.yaml", "out.json"):
        assert _run("copilots", "export", "a", "--out", str(tmp_path / name)) == ""
        assert "unchanged" in _run("copilots", "import", str(tmp_path / name))
    assert (tmp_path / "out.json").read_text().startswith("{\n")
    assert _run("copilots", "export") == (tmp_path / "out.yaml").read_text()
    with pytest.raises(CommandError, match="no copilot with the slug 'zzz'"):
        _run("copilots", "export", "zzz")


@pytest.mark.django_db
def test_an_export_too_large_to_import_is_reported(monkeypatch, good_file):
    _run("copilots", "import", str(good_file))
    monkeypatch.setattr(copilots, "MAX_CHARACTERS", 3)
    told = StringIO()
    call_command("copilots", "export", stdout=StringIO(), stderr=told)
    assert told.getvalue().startswith("This YAML is too large to import.")


@pytest.mark.database
@pytest.mark.django_db
def test_a_key_stands_alone_on_standard_output_and_only_its_hash_is_kept():
    text = _run("keys", "create", "Desk").strip()
    key = EndpointKey.objects.get()
    assert (key.name, key.digest, key.expires_at) == ("Desk", hash_key(text), None)
    assert not key.copilots.exists()


@pytest.mark.django_db
def test_a_key_may_be_scoped_and_expire():
    first, second, third = (make_copilot(slug=slug) for slug in "abc")
    _run(
        "keys", "create", "Desk", "--copilot", "a", "b", "--copilot", "c", "--expires", "2999-12-31"
    )
    key = EndpointKey.objects.get()
    assert set(key.copilots.all()) == {first, second, third}
    assert key.expires_at == datetime(3000, 1, 1, tzinfo=UTC)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["Desk", "--expires", "tomorrow"], "is not a date"),
        (["Desk", "--expires", "2001-01-01"], "is in the past"),
        (["Desk", "--expires", "9999-12-31"], "is not a date"),
        (["Desk", "--copilot", "nobody"], "There is no copilot with the slug nobody."),
        ([" "], "A key needs a name of 1 to 100 characters."),
        (["x" * 101], "A key needs a name of 1 to 100 characters."),
        (["Desk \u202e7"], "U+202E"),
    ],
)
def test_a_bad_key_is_refused_and_none_is_made(arguments, sentence):
    with pytest.raises(CommandError) as refused:
        _run("keys", "create", *arguments)
    assert sentence in str(refused.value)
    assert not EndpointKey.objects.exists()


def test_a_test_mail_needs_a_mail_server(settings, mailoutbox):
    with pytest.raises(CommandError, match="EMAIL_HOST"):
        _run("sendtestemail", "you@example.com")
    settings.EMAIL_HOST = "mail.example.com"
    _run("sendtestemail", "you@example.com")
    assert [mail.to for mail in mailoutbox] == [["you@example.com"]]


@pytest.mark.django_db
def test_a_file_of_another_kind_is_no_copilot_file(tmp_path):
    (tmp_path / "notes.txt").write_text("Buy milk")
    with pytest.raises(CommandError, match=r"^use keys with values"):
        _run("copilots", "import", str(tmp_path / "notes.txt"))


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[uvicorn.Config]:
    """Record what would be served instead of serving it."""
    calls: list[uvicorn.Config] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, sockets: calls.append(server.config))
    return calls


@pytest.mark.django_db
def test_quickstart_prints_the_login_once_and_the_urls_always(served, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    first = _run("quickstart", "--port", "0")
    second = _run("quickstart", "--host", "::1", "--port", "0")
    settings.PUBLIC_URL = "https://copilots.example.com"
    third = _run("quickstart", "--port", "0")

    assert [line.split(":")[0] for line in first.splitlines()] == [
        "First admin",
        "Password",
        f"(stored in {tmp_path / 'first-login.txt'}; change it after the first sign-in)",
        "Admin",
        "Workspace",
    ]
    assert "Password" not in second
    assert "http://[::1]:" in second
    assert third.splitlines()[0] == "Admin:       https://copilots.example.com/admin/"
