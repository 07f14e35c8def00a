"""The image runs as nobody, holds what was locked and no secret, and can be written to nowhere."""

import re

from django.core.management import get_commands, load_command_class

from copilot_admin.server.serve import DEFAULT_PORT
from copilot_admin.settings import BASE_DIR
from tests.deploy.containerfile import PATH, stages
from tests.docs.test_settings import ROWS, SECRETS

PACKAGES, IMAGE = stages()
IGNORED = (BASE_DIR / ".containerignore").read_text().splitlines()
OTHER_VARIABLES = {
    *("PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"),
    *("MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_"),
}


def option(words: list[str], name: str) -> bool:
    return any(word.partition("=")[0] == name for word in words)


def parsed(words: list[str]) -> object:
    """What a command of `manage.py` understands of its arguments."""
    name, *rest = words
    command = load_command_class(get_commands()[name], name)
    return command.create_parser("manage.py", name).parse_args(rest)


def test_it_is_of_a_short_named_base_and_of_two_stages():
    assert (PACKAGES.base, PACKAGES.name, IMAGE.base, IMAGE.name) == (
        "python:3.11-slim-bookworm",
        "packages",
        "python:3.11-slim-bookworm",
        "",
    )
    assert re.findall(r"\b[\w-]+\.(?:io|com|org|dev)/", PATH.read_text()) == []


def test_everything_from_an_index_is_a_wheel_with_its_hash():
    installs = [one.words for one in PACKAGES.all("RUN") if "install" in one.words]
    files = [[word for word in one if word.endswith((".txt", ".txt;"))] for one in installs]
    assert [[file.rstrip(";") for file in one] for one in files] == [
        [f"/requirements/{name}.txt"] for name in ("run", "traces", "clouds")
    ]
    assert all(option(one, "--require-hashes") for one in installs)
    assert all(one[one.index("--only-binary") + 1] == ":all:" for one in installs)
    assert [one.text for one in IMAGE.all("RUN") if "pip" in one.text] == []


def test_nothing_else_comes_near_an_image():
    assert next(line for line in IGNORED if not line.startswith("#")) == "*"
    assert (BASE_DIR / ".dockerignore").read_text() == (BASE_DIR / ".containerignore").read_text()


def test_it_runs_as_nobody_that_a_machine_knows():
    assert IMAGE.last("USER").text == "10001:10001"
    after = IMAGE.instructions[IMAGE.instructions.index(IMAGE.last("USER")) :]
    assert {one.name for one in after} <= {
        *("USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD")
    }


def test_its_variables_are_settings_and_none_is_a_secret():
    pairs = [word.partition("=") for one in IMAGE.all("ENV") for word in one.words]
    given = {name: value for name, _, value in pairs}
    assert set(given) - OTHER_VARIABLES <= set(ROWS) - SECRETS
    assert (given["COPILOT_ENV"], [given["COPILOT_DATA_DIR"]]) == (
        "production",
        IMAGE.last("VOLUME").words,
    )


def test_it_serves_on_the_port_that_it_says():
    assert IMAGE.last("ENTRYPOINT").words == ["python", "manage.py"]
    options = parsed(IMAGE.last("CMD").words)
    port = int(IMAGE.last("EXPOSE").text)
    assert (options.host, options.port, port) == ("0.0.0.0", port, DEFAULT_PORT)
