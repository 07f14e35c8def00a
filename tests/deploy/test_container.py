"""The image runs as nobody, installs locked wheels alone, and serves on the port that it says."""

import re
import shlex

from django.core.management import get_commands, load_command_class

from copilot_admin.server.serve import DEFAULT_PORT
from copilot_admin.settings import BASE_DIR
from tests.docs.test_settings import ROWS, SECRETS

TEXT = (BASE_DIR / "Containerfile").read_text()
OTHER_VARIABLES = {
    *("PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"),
    *("MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_"),
}


def parsed(words: list[str]) -> object:
    """What a command of `manage.py` understands of its arguments."""
    name, *rest = words
    command = load_command_class(get_commands()[name], name)
    return command.create_parser("manage.py", name).parse_args(rest)


def last(name: str) -> str:
    """Return the text of the last instruction with a name."""
    return str(re.findall(rf"^{name} (.*)$", TEXT, re.MULTILINE)[-1])


def test_it_runs_as_nobody_and_holds_no_secret():
    assert last("USER") == "10001:10001"
    variables = {word.partition("=")[0] for word in re.findall(r"\b[A-Z_]+=\S+", TEXT)}
    assert not variables & SECRETS
    assert variables >= {"COPILOT_ENV", "COPILOT_DATA_DIR"}
    assert variables - OTHER_VARIABLES - {"PYTHON", "CLOUDS", "POSTGRESQL_CLIENT"} <= set(ROWS)


def test_everything_from_an_index_is_a_wheel_with_its_hash():
    for line in re.findall(r"pip install.*", TEXT):
        assert {"--require-hashes", "--only-binary"} <= set(shlex.split(line.rstrip("; fi")))


def test_it_serves_on_the_port_that_it_says():
    assert last("ENTRYPOINT") == '["python", "manage.py"]'
    options = parsed(re.findall(r'"(.*?)"', last("CMD")))
    assert (options.host, options.port, int(last("EXPOSE"))) == (
        "0.0.0.0",
        DEFAULT_PORT,
        DEFAULT_PORT,
    )
