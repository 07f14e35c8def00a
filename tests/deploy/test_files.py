"""The image, compose.yaml, the manifests for Kubernetes and the units for systemd fit the service."""

from collections.abc import Iterator
from pathlib import Path
import re
import shlex
import subprocess
import sys
from typing import Any

from django.core.management import call_command, get_commands, load_command_class
from django.urls import resolve
import pytest
import yaml

from copilot_admin.server.serve import DEFAULT_PORT, SHUTDOWN_MARGIN_SECONDS
from copilot_admin.settings import BASE_DIR, DRAIN_SECONDS
from tests.docs.test_settings import ROWS, SECRETS
from tests.production import production_environment

CONTAINERFILE = (BASE_DIR / "Containerfile").read_text()
COMPOSE = yaml.safe_load((BASE_DIR / "compose.yaml").read_text())["services"]
KUBERNETES = BASE_DIR / "deploy" / "kubernetes"
SERVICES = sorted((BASE_DIR / "deploy" / "systemd").glob("*.service"))
FILES = {f"{name}_FILE" for name in SECRETS}
OTHER_VARIABLES = {
    *("PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"),
    *("MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_"),
}


def manifests() -> Iterator[dict[str, Any]]:
    for name in yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]:
        yield from yaml.safe_load_all((KUBERNETES / name).read_text())


ALL = {(one["kind"], one["metadata"]["name"]): one for one in manifests()}
PODS = {
    name: one["spec"]["template"]["spec"]
    for (kind, name), one in ALL.items()
    if kind in ("Deployment", "Job")
}


def parsed(words: list[str]) -> Any:
    """Return what a command of `manage.py` understands of its arguments."""
    name, *rest = words
    command = load_command_class(get_commands()[name], name)
    return command.create_parser("manage.py", name).parse_args(rest)


def last(name: str) -> str:
    """Return the text of the last instruction with a name."""
    return str(re.findall(rf"^{name} (.*)$", CONTAINERFILE, re.MULTILINE)[-1])


def values(unit: Path, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", unit.read_text(), re.MULTILINE)


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def test_djangos_checks_warn_of_nothing(capsys):
    call_command("check", fail_level="WARNING")
    assert capsys.readouterr().out == "System check identified no issues (0 silenced).\n"


def test_djangos_deployment_checks_warn_of_nothing_in_production(tmp_path):
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    environment = production_environment(str(tmp_path))
    done = subprocess.run(
        command, cwd=BASE_DIR, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_image_runs_as_nobody_and_holds_no_secret():
    assert last("USER") == "10001:10001"
    variables = {word.partition("=")[0] for word in re.findall(r"\b[A-Z_]+=\S+", CONTAINERFILE)}
    assert not variables & SECRETS
    assert variables - OTHER_VARIABLES - {"PYTHON", "CLOUDS", "POSTGRESQL_CLIENT"} <= set(ROWS)
    for line in re.findall(r"pip install.*", CONTAINERFILE):
        assert {"--require-hashes", "--only-binary"} <= set(shlex.split(line.rstrip("; fi")))


def test_the_image_serves_on_the_port_that_it_exposes():
    assert last("ENTRYPOINT") == '["python", "manage.py"]'
    options = parsed(re.findall(r'"(.*?)"', last("CMD")))
    assert (options.host, options.port) == ("0.0.0.0", DEFAULT_PORT)
    assert int(last("EXPOSE")) == DEFAULT_PORT


@pytest.mark.parametrize("name", ["migrate", "web", "worker"])
def test_services_of_compose_have_known_commands_variables_and_secrets(name):
    service = COMPOSE[name]
    assert parsed(service["command"])
    given = service["environment"]
    assert set(given) <= set(ROWS) | FILES
    plain = {key: value for key, value in given.items() if key in SECRETS}
    assert plain == {"REDIS_URL": "redis://redis:6379/0"}  # of this network, without a password
    files = {key: value for key, value in given.items() if key in FILES}
    assert {Path(value).name for value in files.values()} == set(service["secrets"])


def test_pods_have_known_commands_variables_and_probes():
    settings = ALL["ConfigMap", "copilot-admin"]["data"]
    assert set(settings) <= (set(ROWS) - SECRETS) | FILES
    assert {kind for kind, _ in ALL if kind == "Secret"} == set()
    assert all(parsed(pod["containers"][0]["args"]) for pod in PODS.values())
    web = PODS["copilot-admin-web"]
    (container,) = web["containers"]
    probes = [container[f"{one}Probe"]["httpGet"] for one in ("startup", "liveness", "readiness")]
    assert [resolve(one["path"]).route for one in probes] == ["healthz", "healthz", "readyz"]
    assert container["ports"] == [{"name": "http", "containerPort": DEFAULT_PORT}]
    assert int(parsed(container["args"]).port) == DEFAULT_PORT


def test_nothing_is_killed_while_it_drains():
    drain = seconds(COMPOSE["web"]["environment"]["COPILOT_DRAIN_S"])
    for name in ("web", "worker", "nginx"):
        grace = seconds(COMPOSE[name]["stop_grace_period"])
        assert grace > drain + SHUTDOWN_MARGIN_SECONDS
    web = PODS["copilot-admin-web"]
    pause = int(web["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][-1])
    drain = int(ALL["ConfigMap", "copilot-admin"]["data"]["COPILOT_DRAIN_S"])
    assert web["terminationGracePeriodSeconds"] > pause + drain + SHUTDOWN_MARGIN_SECONDS
    (unit,) = (path for path in SERVICES if path.name == "copilot-admin.service")
    (timeout,) = map(int, values(unit, "TimeoutStopSec"))
    assert timeout > DRAIN_SECONDS + SHUTDOWN_MARGIN_SECONDS
    assert values(unit, "KillMode") == ["mixed"]


@pytest.mark.parametrize("unit", SERVICES, ids=lambda path: path.stem)
def test_units_have_known_commands_variables_and_credentials(unit):
    for line in [*values(unit, "ExecStartPre"), *values(unit, "ExecStart")]:
        assert parsed(shlex.split(line.partition("manage.py ")[2].removesuffix("'")))
    given = [word for line in values(unit, "Environment") for word in line.split()]
    names = {word.partition("=")[0] for word in given}
    assert names - OTHER_VARIABLES <= set(ROWS) | FILES
    files = {word.partition("=%d/")[2] for word in given if "_FILE=" in word}
    assert files == {line.partition(":")[0] for line in values(unit, "LoadCredential")}
