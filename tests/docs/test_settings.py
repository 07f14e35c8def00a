"""docs/settings.md lists every variable of the settings model with its default, and no other."""

from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
import re
from typing import Any

from pydantic import SecretStr
from pydantic_core import PydanticUndefined
import pytest

from copilot_admin.config.variables import is_secret, iter_variables
from copilot_admin.environment import MAIL_PORTS, Environment

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([A-Z0-9_]+)` \| (.*)$", DOCUMENT, re.MULTILINE))
DEFAULTS = {name: row.split(" | ")[0] for name, row in ROWS.items()}
VARIABLES = dict(iter_variables(Environment))
SECRETS = {name for name, field in VARIABLES.items() if is_secret(field)}
READ_BY_TESTS = {
    name: default or "none"
    for file in (ROOT / "tests").rglob("*.py")
    for name, default in re.findall(
        r'os\.environ\.get\(\s*"([A-Z0-9_]+)"(?:, "(.*?)")?\)', file.read_text(encoding="utf-8")
    )
}
# These defaults depend on other values.
COMPUTED = {
    "ALLOWED_HOSTS",
    "COPILOT_AUDIT_KEYS",
    "COPILOT_DATA_DIR",
    "COPILOT_ENCRYPTION_KEYS",
    "COPILOT_USER_ALGORITHMS",
    "CORS_ORIGINS",
    "DATABASE_URL",
    "EMAIL_PORT",
    "SECRET_KEY",
    "TEST_RELEASE_BEFORE",
}


def written(value: Any) -> str:
    """Return a default as an operator would write it."""
    match value:
        case None | SecretStr() | () | "" if not value:
            return "none"
        case bool():
            return str(value).lower()
        case IPv4Network() | IPv6Network():
            return str(value[0]) if value.num_addresses == 1 else str(value)
        case tuple() | list():
            return ",".join(map(written, value))
        case dict():
            return ",".join(value) or "none"
        case _:
            return str(value)


def test_every_variable_is_documented_and_nothing_else():
    assert set(ROWS) == set(VARIABLES) | set(READ_BY_TESTS)


@pytest.mark.parametrize("name", sorted(VARIABLES.keys() - COMPUTED))
def test_defaults_are_documented(name):
    default = VARIABLES[name].default
    assert default is not PydanticUndefined
    assert DEFAULTS[name].strip("`") == written(default)


@pytest.mark.parametrize("name", sorted(READ_BY_TESTS.keys() - COMPUTED))
def test_defaults_of_the_tests_are_documented(name):
    assert DEFAULTS[name].strip("`") == READ_BY_TESTS[name]


def test_computed_defaults_are_explained():
    assert {name for name in ROWS if not re.fullmatch(r"`[^`]+`|none", DEFAULTS[name])} <= COMPUTED
    assert re.findall(r"\d+", DEFAULTS["EMAIL_PORT"]) == list(map(str, MAIL_PORTS.values()))


def test_secrets_are_marked():
    assert {name for name, row in ROWS.items() if "*Secret.*" in row} == SECRETS
