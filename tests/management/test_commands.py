"""The commands that people and scripts rely on."""

from contextlib import nullcontext
from datetime import UTC, datetime
from io import BytesIO, StringIO
import os
from pathlib import Path
import signal
import socket
import stat
import sys
from types import SimpleNamespace
from typing import Any

from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone
import pytest
import uvicorn
from uvicorn.supervisors import Multiprocess

from copilot_admin.copilots.publishing import problems
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export import yaml_writing
from copilot_admin.management.commands import restore
from copilot_admin.models import (
    Action,
    AuditEntry,
    Copilot,
    CopilotVersion,
    EndpointKey,
    Provider,
)
from copilot_admin.models.access import digest_of
from copilot_admin.server import serving
from copilot_admin.server.first_start import first_start, sample_file
from copilot_admin.server.http_protocol import BoundedHeads
from tests.factories import make_copilot

ROOT = Path(__file__).parent.parent.parent
GOOD = """
format: 1
providers: [{name: R, kind: rehearsal}]
copilots: [{slug: a, name: A, provider: R, model: rehearsal, description: one}]
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
def test_import_tells_what_it_does(good_file):
    told = _run("copilots", "import", str(good_file), "--publish").splitlines()
    assert told[:4] == [
        "provider R: created",
        '  name: (none) -> "R"',
        '  kind: (none) -> "rehearsal"',
        "copilot a: created, published as version 1",
    ]
    assert '  access: (none) -> "open"' in told  # the default in development

    good_file.write_text(GOOD.replace("one", "two" * 100))
    told = _run("copilots", "import", str(good_file), "--publish").splitlines()
    assert told[:2] == ["provider R: unchanged", "copilot a: changed, published as version 2"]
    assert told[2].startswith('  description: "one" -> "twotwo')
    assert told[2].endswith("…")


@pytest.mark.django_db
def test_import_publishes_where_the_key_of_a_provider_is_set_for_the_server_alone(good_file):
    good_file.write_text(
        """
        format: 1
        providers: [{name: L, kind: openai_compatible, base_url: "http://127.0.0.1:9/v1",
                     api_key_env: COPILOT_KEY_NOT_SET}]
        copilots: [{slug: a, name: A, provider: L, model: m}]
        """
    )
    told = StringIO()
    _run("copilots", "import", str(good_file), "--dry-run", stderr=told)
    assert told.getvalue() == ""
    published = _run("copilots", "import", str(good_file), "--publish", stderr=told)
    assert "copilot a: created, published as version 1" in published.splitlines()
    assert told.getvalue() == (
        "Provider 'L' uses the key in the variable COPILOT_KEY_NOT_SET, which is not set. "
        "Set it or enter a key.\n"
    )
    assert problems(Copilot.objects.get())[0].only_for_people


@pytest.mark.django_db
def test_import_reads_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(GOOD.encode())))
    assert "copilot a: created" in _run("copilots", "import", "-")


@pytest.mark.django_db
def test_a_dry_run_changes_nothing(good_file):
    told = _run("copilots", "import", str(good_file), "--dry-run")
    assert told.splitlines()[-1] == "Nothing was changed (--dry-run)."
    assert "copilot a: created" in told
    assert not Copilot.objects.exists()


@pytest.mark.django_db
def test_a_bad_file_is_told_line_by_line(good_file):
    good_file.write_text("format: 1\ncopilots: [{slug: A}]")
    with pytest.raises(CommandError) as refused:
        _run("copilots", "import", str(good_file))
    assert len(str(refused.value).splitlines()) == 4


def test_a_file_that_is_missing_is_one_line(tmp_path):
    said = r"none\.yaml cannot be read: No such file or directory\. Name one that is there\.$"
    with pytest.raises(CommandError, match=said):
        _run("copilots", "import", str(tmp_path / "none.yaml"))


@pytest.mark.django_db
@pytest.mark.parametrize("file", ["-", "/dev/zero"])
def test_of_an_input_without_an_end_no_more_is_read_than_shows_that_it_is_too_big(
    monkeypatch, file
):
    def read(most: int) -> bytes:
        return b"x" * most

    endless = SimpleNamespace(read=read)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=endless))
    monkeypatch.setattr(Path, "open", lambda *_: nullcontext(endless))
    with pytest.raises(CommandError, match=r"^The file is too big: 10 MB are the most\.$"):
        _run("copilots", "import", file)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has it")
@pytest.mark.django_db
def test_an_export_that_finds_no_room_names_its_file(good_file):
    _run("copilots", "import", str(good_file))
    said = r"^/dev/full cannot be written: No space left on device\. Make room, or name a file on "
    with pytest.raises(CommandError, match=said):
        _run("copilots", "export", "--out", "/dev/full")


@pytest.mark.parametrize(
    "arguments",
    [
        ["backup", ""],
        ["restore", " "],
        ["copilots", "export", "--out", ""],
        ["copilots", "import", ""],
        ["prices", "import", "--provider", "R", ""],
        ["transcripts", "export", "--format", "csv", "--output", ""],
    ],
)
def test_a_file_without_a_name_is_refused(arguments):
    """As of a variable of a script that is not set."""
    with pytest.raises(CommandError, match=r"it is empty\. Name a file\.$"):
        _run(*arguments)


def test_the_root_of_all_folders_is_no_backup():
    with pytest.raises(CommandError, match=r"^/ exists\. Name another file, or move it away\.$"):
        _run("backup", "/")


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_link_to_itself_is_one_line(tmp_path, command):
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(CommandError, match="Too many levels of symbolic links"):
        _run(command, f"{link}/a")


@pytest.mark.django_db
def test_what_was_restored_is_told_where_the_anchors_cannot_be_read(
    tmp_path, settings, monkeypatch
):
    settings.DATA_DIR = tmp_path
    (tmp_path / "audit-anchors.jsonl").mkdir()
    done = SimpleNamespace(made_at="2026-01-01", uploads=0, needs_migrate=False, keys_missing=())
    monkeypatch.setattr(restore, "restore", lambda *_, **__: done)
    assert _run("restore", str(tmp_path / "backup")).splitlines() == [
        "Restored as of 2026-01-01, with 0 uploads.",
        f"{tmp_path / 'audit-anchors.jsonl'} cannot be read: Is a directory. Name a file. Then look what "
        "`audit verify` says.",
    ]
    assert AuditEntry.objects.get().action == Action.PUT_BACK


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.django_db
def test_a_restoring_that_replaced_the_database_goes_to_its_end(
    tmp_path, settings, monkeypatch, number
):
    """Log-ins of the backup were left alive, and the trail did not say that it was put back."""
    settings.DATA_DIR = tmp_path
    before = signal.getsignal(number)

    def interrupted(_, *, force, replacing=lambda: None):
        replacing()
        signal.raise_signal(number)
        return SimpleNamespace(made_at="now", uploads=0, needs_migrate=False, keys_missing=())

    monkeypatch.setattr(restore, "restore", interrupted)
    assert _run("restore", str(tmp_path / "backup")) == "Restored as of now, with 0 uploads.\n"
    assert AuditEntry.objects.get().action == Action.PUT_BACK
    assert signal.getsignal(number) is before


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
def test_more_yaml_than_an_import_reads_is_said(monkeypatch, good_file):
    _run("copilots", "import", str(good_file))
    monkeypatch.setattr(yaml_writing, "MOST_VALUES", 3)
    told = StringIO()
    call_command("copilots", "export", stdout=StringIO(), stderr=told)
    assert told.getvalue().startswith("This is more YAML than an import reads. Write JSON with")


@pytest.mark.database
@pytest.mark.django_db
def test_a_key_stands_alone_on_standard_output_and_only_its_hash_is_kept():
    text = _run("keys", "create", "Desk").strip()
    key = EndpointKey.objects.get()
    assert (key.name, key.digest, key.expires_at) == ("Desk", digest_of(text), None)
    assert not key.copilots.exists()


@pytest.mark.django_db
def test_a_key_that_nobody_could_read_is_not_made():
    output = StringIO()
    output.flush = lambda: sys.exit(1)  # as of an output that takes nothing
    with pytest.raises(SystemExit):
        call_command("keys", "create", "desk-7", stdout=output)
    assert not EndpointKey.objects.exists()


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
def test_a_key_works_on_its_last_day():
    today = timezone.now().date()
    _run("keys", "create", "Desk", "--expires", today.isoformat())
    assert EndpointKey.objects.valid(at=timezone.now()).exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["Desk", "--expires", "tomorrow"], "is no date. Write 2030-12-31."),
        (["Desk", "--expires", "2001-01-01"], "has passed. Name a day to come."),
        (["Desk", "--expires", "9999-12-31"], "is no date"),
        (["Desk", "--copilot", "nobody"], "There is no copilot with the slug nobody."),
        ([" "], "A key needs a name of 1 to 100 characters."),
        (["x" * 101], "A key needs a name of 1 to 100 characters."),
        (["Desk \u202e7"], "The invisible sign U+202E turns the direction of the text."),
    ],
)
def test_a_bad_key_is_refused_and_none_is_made(arguments, sentence):
    with pytest.raises(CommandError) as refused:
        _run("keys", "create", *arguments)
    assert sentence in str(refused.value)
    assert not EndpointKey.objects.exists()


@pytest.mark.database
@pytest.mark.django_db
def test_the_first_start_makes_an_admin_and_samples_and_the_second_nothing(tmp_path):
    file = tmp_path / "var" / "first-login.txt"
    login = first_start(file)

    assert login is not None
    assert file.read_text() == f"username: admin\npassword: {login.password}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    admin = User.objects.get()
    assert (admin.username, admin.is_superuser) == ("admin", True)
    assert admin.check_password(login.password)
    assert list(Copilot.objects.published().values_list("slug", "access")) == [
        ("market-brief", "open"),
        ("portfolio-commentary", "open"),
        ("table-and-chart-desk", "open"),
    ]
    Copilot.objects.get(slug="market-brief").delete()

    assert first_start(file) is None
    assert (Copilot.objects.count(), CopilotVersion.objects.count()) == (2, 2)


@pytest.mark.django_db
def test_log_ins_of_other_data_folders_are_kept_for_their_owner_alone(tmp_path):
    file, earlier = tmp_path / "first-login.txt", tmp_path / "first-login.before.txt"
    for text in ("one\n", "two\n"):
        User.objects.all().delete()
        Copilot.objects.all().delete()
        file.write_text(text)
        file.chmod(0o644)
        first_start(file)
    assert file.read_text().startswith("username: admin\n")
    assert earlier.read_text() == "one\ntwo\n"
    assert [stat.S_IMODE(one.stat().st_mode) for one in (file, earlier)] == [0o600, 0o600]


@pytest.mark.django_db
def test_of_log_ins_of_other_data_folders_the_last_fifty_are_kept(tmp_path):
    file, earlier = tmp_path / "first-login.txt", tmp_path / "first-login.before.txt"
    log_ins = [f"username: admin\npassword: {number}\n" for number in range(51)]
    earlier.write_text("".join(log_ins[:50]))
    file.write_text(log_ins[50])
    first_start(file)
    assert earlier.read_text() == "".join(log_ins[1:])
    assert stat.S_IMODE(earlier.stat().st_mode) == 0o600
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted((file.name, earlier.name))


@pytest.mark.django_db
def test_a_first_log_in_that_cannot_be_kept_is_told_and_nobody_is_made(tmp_path):
    file = tmp_path / "var" / "first-login.txt"
    file.mkdir(parents=True)
    with pytest.raises(ConfigurationError) as refused:
        first_start(file)
    assert refused.value.public == (
        f"The first log-in cannot be kept in {file}: Is a directory. Let this account write there, "
        "and start again."
    )
    assert (User.objects.count(), Copilot.objects.count()) == (0, 0)


@pytest.mark.django_db
def test_the_samples_use_openai_where_the_environment_names_it(tmp_path, settings, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    settings.OPENAI_API_KEY = "sk-0123456789"
    first_start(tmp_path / "first-login.txt")

    provider = Provider.objects.get()
    assert (provider.name, provider.kind, provider.base_url, provider.api_key_env) == (
        "OpenAI",
        "openai_compatible",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
    )
    assert {copilot.model for copilot in Copilot.objects.published()} == {settings.OPENAI_MODEL}


def test_another_server_needs_no_key(settings):
    settings.OPENAI_BASE_URL = "http://127.0.0.1:11434/v1"
    file: Any = sample_file()
    assert file["providers"] == [
        {
            "name": "OpenAI",
            "kind": "openai_compatible",
            "base_url": "http://127.0.0.1:11434/v1",
            "api_key_env": "",
        }
    ]


@pytest.mark.django_db
def test_the_samples_have_no_problems(tmp_path):
    first_start(tmp_path / "first-login.txt")
    assert [problems(copilot) for copilot in Copilot.objects.all()] == [(), (), ()]


@pytest.mark.database
def test_several_workers_refuse_sqlite(settings, monkeypatch):
    database = settings.DATABASES["default"]
    monkeypatch.setitem(database, "ENGINE", "django.db.backends.sqlite3")
    with pytest.raises(CommandError, match="SQLite serves one process"):
        _run("serve", "--workers", "2")
    monkeypatch.setitem(database, "ENGINE", "django.db.backends.postgresql")
    serving.check_workers(2)


@pytest.mark.parametrize("command", ["serve", "quickstart"])
@pytest.mark.parametrize("port", ["-1", "65536", "http", "80.5", "", "9" * 5000])
def test_a_port_that_is_none_is_one_line(command, port):
    with pytest.raises(CommandError) as refused:
        _run(command, f"--port={port}")
    assert str(refused.value) == f"--port {port[:20]}: give a number from 0 to 65535."


@pytest.mark.parametrize("workers", ["0", "-2", "many", "1001"])
def test_a_number_of_workers_that_is_none_is_one_line(workers):
    with pytest.raises(CommandError) as refused:
        _run("serve", f"--workers={workers}")
    assert str(refused.value) == f"--workers {workers}: give a number from 1 to 1000."


@pytest.mark.parametrize("host", ["127..1", "127." + "x" * 70])
def test_a_host_that_is_none_is_one_line(host):
    with pytest.raises(CommandError, match="The server cannot listen on") as refused:
        _run("serve", "--host", host, "--port", "0")
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("command", ["serve", "quickstart"])
def test_a_taken_port_is_one_line(command):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError) as refused:
            _run(command, "--port", str(port))
    assert str(refused.value) == (
        f"The server cannot listen on 127.0.0.1 port {port}: Address already in use. "
        "Choose another port, or stop what uses it."
    )


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """What would have been served, instead of serving it."""
    calls: list[tuple[str, Any]] = []
    monkeypatch.setattr(
        uvicorn.Server, "run", lambda server, sockets: calls.append(("one", server.config))
    )
    monkeypatch.setattr(
        Multiprocess, "run", lambda several: calls.append(("several", several.config))
    )
    monkeypatch.setattr(os, "umask", lambda mask: calls.append(("umask", mask)))
    return calls


@pytest.mark.django_db(transaction=True)
def test_the_server_has_the_profile_that_was_chosen_for_it(served, settings):
    settings.DRAIN_SECONDS = 7.0
    _run("serve", "--port", "0")
    (umask, (kind, config)) = served
    assert umask == ("umask", 0o077)
    assert (kind, config.app, config.loop, config.http, config.lifespan) == (
        "one",
        "copilot_admin.asgi:application",
        "uvloop",
        BoundedHeads,
        "on",
    )
    assert config.timeout_graceful_shutdown == 12


def test_an_empty_variable_of_proxies_is_none(served, settings, monkeypatch):
    """uvicorn reads it itself unless it is told, and takes an empty one for nobody."""
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "")
    with serving.listen("127.0.0.1", 0) as listener:
        serving.serve(listener)
    ((_, config),) = served[1:]
    assert config.forwarded_allow_ips == settings.FORWARDED_ALLOW_IPS == "127.0.0.1"


def test_several_workers_share_one_socket(served):
    with serving.listen("127.0.0.1", 0) as listener:
        serving.serve(listener, workers=2)
    assert [(kind, config.workers) for kind, config in served[1:]] == [("several", 2)]


def test_the_socket_is_listened_at_more_than_once(monkeypatch):
    """The event loop takes one connection from each in a round."""
    heard: list[tuple[int, Any]] = []

    def run(_: uvicorn.Server, sockets: list[socket.socket]) -> None:
        heard.extend((one.fileno(), one.getsockname()) for one in sockets)

    monkeypatch.setattr(uvicorn.Server, "run", run)
    monkeypatch.setattr(os, "umask", lambda mask: mask)
    with serving.listen("127.0.0.1", 0) as listener:
        serving.serve(listener)
        address = listener.getsockname()
    assert [where for _, where in heard] == [address] * serving.EARS
    assert len({number for number, _ in heard}) == serving.EARS


def test_worker_that_is_busy_for_seconds_is_not_killed(served):
    with serving.listen("127.0.0.1", 0) as listener:
        serving.serve(listener, workers=2)
    assert served[1][1].timeout_worker_healthcheck == 120


def test_what_a_live_page_sends_is_short_and_not_packed(served):
    with serving.listen("127.0.0.1", 0) as listener:
        serving.serve(listener)
    config = served[1][1]
    assert (config.ws_max_size, config.ws_per_message_deflate) == (4096, False)


@pytest.mark.django_db
def test_quickstart_tells_the_login_once_and_the_addresses_always(served, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    first = _run("quickstart", "--port", "0")
    second = _run("quickstart", "--host", "::1", "--port", "0")
    settings.PUBLIC_URL = "https://copilots.example.com"
    third = _run("quickstart", "--port", "0")

    assert [line.split(":")[0] for line in first.splitlines()] == [
        "First admin",
        "Password",
        f"(kept in {tmp_path / 'first-login.txt'}; change it after the first log-in)",
        "Admin",
        "Workspace",
    ]
    assert "Password" not in second
    assert "http://[::1]:" in second
    assert third.splitlines()[0] == "Admin:       https://copilots.example.com/admin/"


@pytest.mark.django_db
def test_quickstart_may_prepare_only(served, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    assert _run("quickstart", "--no-serve").startswith("First admin: admin")
    assert _run("quickstart", "--no-serve") == ""
    assert served == [("umask", 0o077), ("umask", 0o077)]
