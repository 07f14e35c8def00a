"""`docs/settings.md` names every variable that is read, and none that is not."""

from pathlib import Path
import re

import pytest

from copilot_admin.config.env import Environment

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
