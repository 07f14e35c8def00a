"""What the settings accept, and the one line with which they refuse."""

import json
import os
from pathlib import Path
import stat
import subprocess
import sys
from typing import Any

import pytest

from copilot_admin.config import origins
from copilot_admin.config.bounded_connection import BoundedConnection
from copilot_admin.config.databases import database, is_maintenance, try_on
from copilot_admin.config.encryption import new_key
from copilot_admin.config.env import BadSetting, Environment
from copilot_admin.config.kept_secrets import kept_secret
from copilot_admin.config.ready_connection import ReadyConnection
from copilot_admin.config.secrets import encryption_keys, secret_key
from tests.production import production_environment

ROOT = Path(__file__).parent.parent.parent


def _start(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "import copilot_admin.settings"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_production_starts_with_the_smallest_environment(tmp_path):
    assert _start(production_environment(str(tmp_path))).returncode == 0


def test_a_refusal_ends_the_process_with_its_line_alone(tmp_path):
    finished = _start({**production_environment(str(tmp_path)), "SECRET_KEY": ""})
    assert (finished.returncode, finished.stderr) == (1, f"{REFUSED[0][1]}\n")


# Each of several environments, one after the other: what an import that it refuses ends with.
STARTS = """
import json, os, sys
ends = []
for environment in json.load(sys.stdin):
    os.environ.clear()
    os.environ.update(environment)
    try:
        import copilot_admin.settings
        ends.append(None)
    except SystemExit as end:
        ends.append(str(end))
    sys.modules.pop("copilot_admin.settings", None)
print(json.dumps(ends))
"""
REFUSED = [
    ({"SECRET_KEY": ""}, "SECRET_KEY is missing. Set 50 random characters or more."),
    ({"SECRET_KEY": "short"}, "SECRET_KEY is weak. Set 50 random characters or more."),
    ({"SECRET_KEY": "ab" * 40}, "SECRET_KEY is weak. Set 50 random characters or more."),
    (
        {"SECRET_KEY_FALLBACKS": "short"},
        "SECRET_KEY_FALLBACKS holds a weak key. Keep those that were SECRET_KEY, separated by "
        "commas, or none.",
    ),
    (
        {"COPILOT_AUDIT_KEYS": "short," + "0123456789abcdef" * 2},
        "COPILOT_AUDIT_KEYS begins with a weak key. Put one of 32 random characters or more before it; "
        "those behind the first are only for entries of before.",
    ),
    (
        {"COPILOT_ENCRYPTION_KEYS": ""},
        "COPILOT_ENCRYPTION_KEYS is missing. Set 32 random bytes in URL-safe base64.",
    ),
    (
        {"COPILOT_ENCRYPTION_KEYS": "AAAA"},
        "COPILOT_ENCRYPTION_KEYS is wrong: "
        "an encryption key is 32 random bytes in URL-safe base64.",
    ),
    (
        {"ALLOWED_HOSTS": ""},
        "ALLOWED_HOSTS is missing. Name the hosts of this service: a.com,b.com",
    ),
    (
        {"ALLOWED_HOSTS": "*"},
        "ALLOWED_HOSTS may not hold a wildcard in production. Name each host.",
    ),
    (
        {"COPILOT_DEBUG": "1"},
        "COPILOT_DEBUG is on. It shows settings to strangers: production refuses it.",
    ),
    (
        {"PUBLIC_URL": "http://copilots.example.com"},
        "PUBLIC_URL is 'http://copilots.example.com'. Production needs https.",
    ),
    *(
        (
            {"ALLOWED_HOSTS": host},
            f"ALLOWED_HOSTS holds {host!r}. Name hosts alone, without scheme, port and path: "
            "a.com,b.com",
        )
        for host in ("https://a.com", "a.com:8000", "a.com/x", "büro.de", "a b")
    ),
    (
        {"ALLOWED_HOSTS": ".a.com"},
        "ALLOWED_HOSTS may not hold a wildcard in production. Name each host.",
    ),
    (
        {"FORWARDED_ALLOW_IPS": "*"},
        "FORWARDED_ALLOW_IPS is *: everybody could say who he is. Name the addresses of your proxies.",
    ),
    *(
        (
            {name: text, **others},
            f"{name} is all addresses that there are: everybody could say who he is. Name the "
            "addresses of your proxies.",
        )
        for name, text, others in (
            ("FORWARDED_ALLOW_IPS", "10.0.0.1,0.0.0.0/0", {}),
            ("FORWARDED_ALLOW_IPS", "::/0", {}),
            ("FORWARDED_ALLOW_IPS", "0.0.0.0/1,128.0.0.0/1", {}),
            ("FORWARDED_ALLOW_IPS", "::ffff:0:0/96", {}),
            ("COPILOT_USER_PROXIES", "0.0.0.0/0", {"COPILOT_USER_ID_HEADER": "X-User"}),
            (
                "COPILOT_PROXY_ALLOW",
                "0.0.0.0/0",
                {
                    "COPILOT_PROXY_USER_HEADER": "X-User",
                    "COPILOT_PROXY_GROUPS_HEADER": "X-Groups",
                    "COPILOT_PROXY_SUPERUSERS": "it",
                },
            ),
        )
    ),
    (
        {"FORWARDED_ALLOW_IPS": "127.0.0.1,*"},
        "FORWARDED_ALLOW_IPS names '*'. Use addresses or networks such as 10.0.0.0/8.",
    ),
    (
        {"FORWARDED_ALLOW_IPS": "127.0.0.1, nginx"},
        "FORWARDED_ALLOW_IPS names 'nginx'. Use addresses or networks such as 10.0.0.0/8.",
    ),
    (
        {"COPILOT_CORS_HEADERS": "X-Desk,X\nSet-Cookie"},
        "COPILOT_CORS_HEADERS holds 'X\\nSet-Cookie'. Use names of headers: X-Desk,X-Region",
    ),
    (
        {"OPENAI_BASE_URL": "llm.example.com"},
        "OPENAI_BASE_URL is 'llm.example.com'. Use an address like https://copilots.example.com",
    ),
    *(
        (
            {"REDIS_URL": url},
            "REDIS_URL is not understood. Use redis://host:6379/0, rediss://… or unix:///path.",
        )
        for url in (
            "127.0.0.1:6379",
            "http://h",
            "redis://h:port/0",
            "redis://h/cache",
            "redis://h/0?frob=1",
            "redis://h/0?db=x",
        )
    ),
    ({"COPILOT_ENV": "prod"}, "COPILOT_ENV is 'prod'. Use development or production."),
    (
        {"DATABASE_URL": "mongodb://here"},
        "DATABASE_URL is not understood. Use postgres://user:password@host:port/name "
        "or sqlite:///path/to/file.",
    ),
    *(
        ({name: f"{least}.5"}, f"{name} is '{least}.5'. Use a whole number from {least} to {most}.")
        for name, least, most in (
            ("COPILOT_ANONYMOUS_CONCURRENT", 0, 100000),  # 0 is as many as come
            ("COPILOT_ANONYMOUS_PER_MINUTE", 0, 1000000),
            ("COPILOT_MAX_MESSAGES", 1, 10000),
            ("COPILOT_PRUNE_HOUR", 0, 23),
        )
    ),
]


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> list[str | None]:
    """What starts end with, in one process: to begin one takes longer than to read the settings."""
    smallest = production_environment(str(tmp_path_factory.mktemp("data")))
    starts = [smallest, *({**smallest, **changes} for changes, _ in REFUSED)]
    done = subprocess.run(
        [sys.executable, "-c", STARTS],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        input=json.dumps(starts),
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[str | None] = json.loads(done.stdout)
    assert len(found) == len(starts)
    assert found.pop(0) is None
    return found


@pytest.mark.parametrize(
    ("number", "line"),
    [pytest.param(number, line, id=line) for number, (_, line) in enumerate(REFUSED)],
)
def test_production_refuses_in_one_line_that_names_the_variable(ends, number, line):
    assert ends[number] == line


def test_development_makes_its_keys_once_for_the_owner_alone(tmp_path):
    made = secret_key(Environment({}), keys_dir=tmp_path / "keys", production=False)
    sealing = encryption_keys(Environment({}), keys_dir=tmp_path / "keys", production=False)

    assert secret_key(Environment({}), keys_dir=tmp_path / "keys", production=False) == made
    assert encryption_keys(Environment({}), keys_dir=tmp_path / "keys", production=False) == sealing
    files = list((tmp_path / "keys").iterdir())
    assert {file.name for file in files} == {"secret-key", "encryption-key"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700


def test_several_encryption_keys_are_read_newest_first(tmp_path):
    texts = [new_key(), new_key()]
    env = Environment({"COPILOT_ENCRYPTION_KEYS": ",".join(texts)})
    found = encryption_keys(env, keys_dir=tmp_path, production=True)
    assert len({key.id for key in found}) == 2
    assert not list(tmp_path.iterdir())


def test_a_pattern_is_no_encryption_key(tmp_path):
    env = Environment({"COPILOT_ENCRYPTION_KEYS": "QUFB" * 10 + "QUE="})
    with pytest.raises(BadSetting, match="must be random bytes"):
        encryption_keys(env, keys_dir=tmp_path, production=True)


def test_development_always_allows_this_machine():
    hosts = origins.allowed_hosts((), public_url="", serving_host="10.0.0.5", production=False)
    assert hosts == ["10.0.0.5", "localhost", "127.0.0.1", "[::1]"]


def test_the_public_host_is_allowed():
    hosts = origins.allowed_hosts(
        ("a.com",), public_url="https://b.com/x", serving_host="", production=True
    )
    assert hosts == ["a.com", "b.com"]


def test_the_known_workspace_origins_are_exact():
    assert origins.exact_origins(origins.WORKSPACE_ORIGINS) == origins.WORKSPACE_ORIGINS


@pytest.mark.parametrize(
    "origin",
    [
        "*",
        "https://*.openbb.co",
        "pro.openbb.co",
        "https://pro.openbb.co/",
        "HTTPS://a.com",
        "null",
        "http://[",
        "http://a.com:99999",
    ],
)
def test_an_origin_that_no_browser_writes_is_refused(origin):
    with pytest.raises(BadSetting, match="CORS_ORIGINS holds"):
        origins.exact_origins(("https://pro.openbb.co", origin))


@pytest.mark.parametrize("url", ["ftp://a.com", "a.com", "https://", "http://[::1", "http://a:b"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(BadSetting, match="PUBLIC_URL is"):
        origins.web_address("PUBLIC_URL", url, production=False)


def test_an_address_loses_its_slash_and_this_machine_needs_no_https():
    assert origins.web_address("A", "http://127.0.0.1:7777/", production=True) == (
        "http://127.0.0.1:7777"
    )
    assert origins.web_address("A", "", production=True) == ""


def test_sqlite_is_durable_and_waits_for_its_lock(tmp_path):
    settings = database("", data_dir=tmp_path)
    assert settings["NAME"] == tmp_path / "copilot.sqlite3"
    assert settings["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert settings["OPTIONS"]["timeout"] == 4
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=4000"):
        assert pragma in settings["OPTIONS"]["init_command"]
    assert settings["OPTIONS"]["factory"] is ReadyConnection


def test_a_named_sqlite_file_is_used(tmp_path):
    assert database(f"sqlite:///{tmp_path}/a.db", data_dir=tmp_path)["NAME"] == tmp_path / "a.db"


def test_postgresql_has_a_pool_and_time_limits(tmp_path):
    settings = database("postgres://u:p@h:5433/n?sslmode=require", data_dir=tmp_path)
    assert (settings["USER"], settings["HOST"], settings["PORT"]) == ("u", "h", 5433)
    assert settings["CONN_MAX_AGE"] == 0
    assert settings["CONN_HEALTH_CHECKS"] is True
    assert settings["OPTIONS"] == {
        "sslmode": "require",
        "connect_timeout": 3,
        "tcp_user_timeout": 4000,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 2,
        "pool": {
            "min_size": 2,
            "max_size": 10,
            "timeout": 1.5,
            "max_waiting": 100,
            "reconnect_timeout": 3,
            "reconnect_failed": try_on,
            "connection_class": BoundedConnection,
        },
        "options": "-c datestyle=ISO -c default_transaction_isolation=read\\ committed "
        "-c statement_timeout=3000 -c lock_timeout=2000 "
        "-c idle_in_transaction_session_timeout=10000 -c jit=off",
    }


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["manage.py", "migrate"], True),
        (["/srv/app/manage.py", "sweep"], True),
        (["manage.py", "worker"], True),
        (["django-admin", "copilots", "import"], True),
        (["manage.py", "serve", "--workers", "2"], False),
        (["manage.py", "quickstart"], False),
        (["manage.py", "runserver"], False),
        (["/usr/bin/uvicorn", "copilot_admin.asgi:application"], False),
        ([], False),
    ],
)
def test_only_commands_that_serve_nobody_may_take_their_time(argv, expected, tmp_path):
    assert is_maintenance(argv) is expected
    entry = database("postgres://u@h/n", data_dir=tmp_path, maintenance=expected)
    assert ("-c statement_timeout=0 " in entry["OPTIONS"]["options"]) is expected
    assert ("-c jit=off" in entry["OPTIONS"]["options"]) is not expected
    assert ("connection_class" not in entry["OPTIONS"]["pool"]) is expected


@pytest.mark.parametrize("url", ["mysql://a/b", "nonsense", "postgres://h:port/n"])
def test_a_database_that_cannot_be_used_is_refused(url, tmp_path):
    with pytest.raises(BadSetting, match="DATABASE_URL is not understood"):
        database(url, data_dir=tmp_path)


@pytest.mark.parametrize(("key", "word"), [("", "missing"), ("short", "weak"), ("ab" * 40, "weak")])
def test_production_makes_no_secret_key_and_takes_no_weak_one(key, word, tmp_path):
    with pytest.raises(BadSetting, match=f"SECRET_KEY is {word}"):
        secret_key(Environment({"SECRET_KEY": key}), keys_dir=tmp_path, production=True)
    assert not list(tmp_path.iterdir())


def test_a_good_secret_key_is_taken_as_it_is(tmp_path):
    env = Environment({"SECRET_KEY": "abcde" * 10})
    assert secret_key(env, keys_dir=tmp_path, production=True) == "abcde" * 10
    assert secret_key(env, keys_dir=tmp_path, production=False) == "abcde" * 10


def test_production_makes_no_encryption_key(tmp_path):
    with pytest.raises(BadSetting, match="COPILOT_ENCRYPTION_KEYS is missing"):
        encryption_keys(Environment({}), keys_dir=tmp_path, production=True)


def test_two_processes_that_make_a_secret_at_once_share_it(tmp_path):
    file = tmp_path / "key"

    def make_while_another_does() -> str:
        file.write_text("first\n")
        return "second"

    assert kept_secret(file, make_while_another_does) == "first"


@pytest.mark.parametrize(
    ("hosts", "sentence"), [((), "missing"), (("a.com", "*.b.com"), "wildcard")]
)
def test_production_names_its_hosts(hosts, sentence):
    with pytest.raises(BadSetting, match=sentence):
        origins.allowed_hosts(hosts, public_url="", serving_host="", production=True)


def test_production_needs_https():
    with pytest.raises(BadSetting, match="Production needs https"):
        origins.web_address("A", "http://a.com", production=True)


def test_redis_serves_cache_and_live_updates(tmp_path):
    code = (
        "from copilot_admin import settings; "
        "print(settings.CACHES['default']['LOCATION'], settings.CHANNEL_LAYERS['default'])"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**production_environment(str(tmp_path)), "REDIS_URL": "redis://h:6379/0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert finished.stdout == (
        "redis://h:6379/0 {'BACKEND': 'channels_redis.core.RedisChannelLayer', "
        "'CONFIG': {'hosts': [{'address': 'redis://h:6379/0', 'socket_timeout': 30}]}}\n"
    )


# What Django and its packages would read out of Redis, and out of rows beside it, is given a pickle
# that makes a file when somebody unpickles it.
PICKLED = """
import json, os, pathlib, pickle, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "copilot_admin.settings"
import django
django.setup()
from channels.layers import channel_layers
from django.conf import settings
from django.core.cache import caches
from django.utils.module_loading import import_string

class Planted:
    def __reduce__(self):
        return pathlib.Path.touch, (pathlib.Path(sys.argv[1]),)

planted = pickle.dumps(Planted())
readers = {f"cache {name}": caches[name]._cache._serializer.loads for name in settings.CACHES}
readers |= {f"layer {name}": channel_layers[name].deserialize for name in settings.CHANNEL_LAYERS}
readers["session"] = import_string(settings.SESSION_SERIALIZER)().loads
ran = []
for name, reader in readers.items():
    try:
        reader(planted)
    except Exception:
        pass
    if pathlib.Path(sys.argv[1]).exists():
        ran.append(name)
        pathlib.Path(sys.argv[1]).unlink()
print(json.dumps([sorted(readers), ran]))
"""


def test_nothing_that_lies_in_redis_is_unpickled(tmp_path):
    """Whoever could write there ran code here; Django does so unless it is told another way."""
    finished = subprocess.run(
        [sys.executable, "-c", PICKLED, str(tmp_path / "ran")],
        cwd=ROOT,
        env={**production_environment(str(tmp_path)), "REDIS_URL": "redis://127.0.0.1:1/0"},
        capture_output=True,
        text=True,
        check=True,
    )
    readers, ran = json.loads(finished.stdout)
    assert readers == ["cache default", "layer default", "session"]
    assert ran == []


def postgresql(**options: bool) -> Any:
    return database("postgres://u:p@h:5432/n", data_dir=Path("/d"), **options)


def test_through_pgbouncer_nothing_is_set_for_a_session_and_no_cursor_outlives_a_transaction():
    stock, behind = postgresql(), postgresql(pgbouncer=True)
    assert ("options" in stock["OPTIONS"], "options" in behind["OPTIONS"]) == (True, False)
    assert (stock["DISABLE_SERVER_SIDE_CURSORS"], behind["DISABLE_SERVER_SIDE_CURSORS"]) == (
        False,
        True,
    )
    assert behind["OPTIONS"].items() <= stock["OPTIONS"].items()


@pytest.mark.parametrize(
    ("lies_there", "said"),
    [
        (
            lambda file: file.mkdir(parents=True),
            "keys/secret-key cannot be used: Is a directory. Let this account read and write its folder, or set "
            "SECRET_KEY and COPILOT_ENCRYPTION_KEYS.",
        ),
        (
            lambda file: file.parent.write_text(""),
            "keys cannot be used: File exists. Let this account read and write its folder, or set "
            "SECRET_KEY and COPILOT_ENCRYPTION_KEYS.",
        ),
        (
            lambda file: _written(file, b" \n"),
            "keys/secret-key holds no secret. Put back what it held.",
        ),
        (
            lambda file: _written(file, b"\xff\x00"),
            "keys/secret-key holds no secret. Put back what it held.",
        ),
    ],
)
def test_a_kept_secret_that_cannot_be_read_is_told_in_one_line(tmp_path, lies_there, said):
    file = tmp_path / "keys" / "secret-key"
    lies_there(file)
    with pytest.raises(BadSetting) as ended:
        kept_secret(file, lambda: "made")
    assert ended.value.sentence == f"{tmp_path}/{said}"


def _written(file: Path, data: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(data)
