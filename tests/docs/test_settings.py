"""`docs/settings.md` names every variable that is read, none that is not, and what it is without."""

import json
import os
from pathlib import Path
import re
import subprocess
import sys

import pytest

from copilot_admin.config.env import Environment
from copilot_admin.config.mail import PORTS
from tests.production import production_environment

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
KINDS = [name for name in vars(Environment) if not name.startswith("_")]
READ = re.compile(rf"""env\.(?P<kind>{"|".join(KINDS)})\(\s*["'](?P<name>[A-Z0-9_]+)""")
READ_BY_TESTS = re.compile(r"""os\.environ\.get\(["']([A-Z0-9_]+)""")


def _sources(*folders: str) -> str:
    files = (file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


CODE = _sources("copilot_admin")
VARIABLES = {match["name"] for match in READ.finditer(CODE)}
SECRETS = {match["name"] for match in READ.finditer(CODE) if match["kind"].startswith("secret")}
TEST_VARIABLES = set(READ_BY_TESTS.findall(_sources("tests")))
ROWS = dict(re.findall(r"^\| `([A-Z0-9_]+)` \| (.*)$", DOCUMENT, re.MULTILINE))

DEFAULTS = {name: row.split(" | ")[0] for name, row in ROWS.items()}
PLAIN = re.compile(r"`([^`]+)`|none")
# What these are without a value is said in words: other tests say what becomes of them then.
IN_WORDS = {
    "ALLOWED_HOSTS",
    "COPILOT_AUDIT_LOG",
    "COPILOT_ENCRYPTION_KEYS",
    "COPILOT_OIDC_LABEL",
    "COPILOT_USER_ALGORITHMS",
    "CORS_ORIGINS",
    "DATABASE_URL",
    "EMAIL_HOST",
    "EMAIL_PORT",
    "OPENAI_BASE_URL",
    "PUBLIC_URL",
    "SECRET_KEY",
    "TEST_RELEASE_BEFORE",
}
# Those are not read as they are written: the folder of a checkout, and what stands for other keys.
OF_OTHERS = {"COPILOT_DATA_DIR", "COPILOT_AUDIT_KEYS"}
# What tokens say is read where tokens are checked. The settings are read with each of these.
ENVIRONMENTS: list[dict[str, str]] = [
    {},
    {
        "COPILOT_USER_JWKS_URL": "https://login.example.com/keys",
        "COPILOT_USER_ISSUER": "https://login.example.com",
        "COPILOT_USER_AUDIENCE": "copilots",
    },
]
# Notes each variable that is read without being set, and what the settings get instead.
READING = """
import json, os, sys
from copilot_admin.config.env import Environment

told, readers = {}, []

def noting(method):
    def read(self, name, *rest, **options):
        readers.append(name)
        value = method(self, name, *rest, **options)
        readers.pop()
        if not readers and not self.variables.get(name):
            told.setdefault(name, []).append(value)
        return value
    return read

for kind in json.loads(sys.argv[1]):
    setattr(Environment, kind, noting(getattr(Environment, kind)))
smallest = dict(os.environ)
for environment in json.loads(sys.argv[2]):
    os.environ.clear()
    os.environ.update(smallest, **environment)
    import copilot_admin.settings
    del sys.modules["copilot_admin.settings"]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def read_instead(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """What the settings get for each variable that is not set, as it would be written."""
    environment = production_environment(str(tmp_path_factory.mktemp("data")))
    del environment["ALLOWED_HOSTS"]
    done = subprocess.run(
        [sys.executable, "-c", READING, json.dumps(KINDS), json.dumps(ENVIRONMENTS)],
        cwd=ROOT,
        env={**environment, "COPILOT_ENV": "", "PYTHONPATH": os.fspath(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    return {name: {text for one in found[name] if (text := _written(one))} for name in found}


def _written(value: object) -> str:
    """A value as one writes it into a variable; "" of nothing."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:g}"
        case list():
            return ",".join(map(_written, value))
        case _:
            return "" if value is None else str(value)


def test_of_which_variables_the_default_is_no_value_is_known():
    assert {name for name in DEFAULTS if not PLAIN.fullmatch(DEFAULTS[name])} == IN_WORDS


@pytest.mark.parametrize("name", sorted(VARIABLES - IN_WORDS - OF_OTHERS))
def test_a_variable_that_is_not_set_is_what_is_documented(read_instead, name):
    """The longest history could be another than the one that operators read of."""
    documented = PLAIN.fullmatch(DEFAULTS[name])
    assert documented is not None
    assert read_instead[name] == ({documented[1]} if documented[1] else set())


def test_what_tests_read_is_without_a_value_what_is_documented():
    read = re.findall(r'os\.environ\.get\("([A-Z0-9_]+)"(?:, "(.*?)")?\)', _sources("tests"))
    plain = {name: PLAIN.fullmatch(DEFAULTS[name]) for name, _ in read if name not in IN_WORDS}
    assert plain
    for name, default in read:
        if name in plain:
            assert (default or None) == plain[name][1], name


def test_the_ports_of_mail_are_those_that_are_documented():
    plain = dict(re.findall(r"with `(\w+)` (\d+)", DEFAULTS["EMAIL_PORT"]))
    first = DEFAULTS["EMAIL_PORT"].partition(",")[0]
    assert {kind.value: str(port) for kind, port in PORTS.items()} == {"starttls": first, **plain}


def test_the_search_finds_variables():
    assert {"SECRET_KEY", "PUBLIC_URL", "COPILOT_DEBUG", "COPILOT_MAX_BODY_MB"} <= VARIABLES


@pytest.mark.parametrize("name", sorted(VARIABLES | TEST_VARIABLES))
def test_every_variable_is_documented(name):
    assert name in ROWS


@pytest.mark.parametrize("name", sorted(ROWS))
def test_every_documented_variable_is_read(name):
    assert name in VARIABLES | TEST_VARIABLES


@pytest.mark.parametrize("name", sorted(ROWS))
def test_secrets_are_marked_and_nothing_else_is(name):
    assert ("*Secret.*" in ROWS[name]) == (name in SECRETS)


def test_the_interface_variables_are_all_there():
    assert {
        "COPILOT_ENV",
        "SECRET_KEY",
        "DATABASE_URL",
        "REDIS_URL",
        "COPILOT_DATA_DIR",
        "COPILOT_ENCRYPTION_KEYS",
        "PUBLIC_URL",
        "ALLOWED_HOSTS",
        "CORS_ORIGINS",
        "COPILOT_FETCH_ALLOW",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    } <= set(ROWS)
