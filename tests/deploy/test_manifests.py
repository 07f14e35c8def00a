"""What compose.yaml and the manifests for Kubernetes say fits the service and each other."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.urls import resolve
import pytest
import yaml

from copilot_admin.server.serve import DEFAULT_PORT, SHUTDOWN_MARGIN_SECONDS
from copilot_admin.settings import BASE_DIR
from tests.deploy.test_container import parsed
from tests.docs.test_settings import ROWS, SECRETS

COMPOSE = yaml.safe_load((BASE_DIR / "compose.yaml").read_text())
KUBERNETES = BASE_DIR / "deploy" / "kubernetes"
OURS = ("migrate", "web", "worker")
FILES = {f"{name}_FILE" for name in SECRETS}


def manifests() -> Iterator[dict[str, Any]]:
    for name in yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]:
        yield from yaml.safe_load_all((KUBERNETES / name).read_text())


ALL = {(one["kind"], one["metadata"]["name"]): one for one in manifests()}
PODS = {
    name: one["spec"]["template"]
    for (kind, name), one in ALL.items()
    if kind in ("Deployment", "Job")
}
SETTINGS = ALL["ConfigMap", "copilot-admin"]["data"]
WEB = PODS["copilot-admin-web"]["spec"]


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


class TestCompose:
    @pytest.mark.parametrize("name", OURS)
    def test_their_commands_are_understood(self, name):
        assert parsed(COMPOSE["services"][name]["command"])

    @pytest.mark.parametrize("name", OURS)
    def test_their_variables_are_settings_and_secrets_are_files(self, name):
        service = COMPOSE["services"][name]
        given = service["environment"]
        assert set(given) <= set(ROWS) | FILES
        plain = {key: value for key, value in given.items() if key in SECRETS}
        assert plain == {"REDIS_URL": "redis://redis:6379/0"}  # of this network, without a password
        files = {key: value for key, value in given.items() if key in FILES}
        assert {Path(value).name for value in files.values()} == set(service["secrets"])

    @pytest.mark.parametrize("name", ["web", "worker", "nginx"])
    def test_nothing_is_killed_while_it_drains(self, name):
        drain = seconds(COMPOSE["services"]["web"]["environment"]["COPILOT_DRAIN_S"])
        grace = seconds(COMPOSE["services"][name]["stop_grace_period"])
        assert grace > drain + SHUTDOWN_MARGIN_SECONDS


@pytest.mark.parametrize("pod", PODS.values(), ids=PODS)
class TestEveryPod:
    def test_its_command_is_understood(self, pod):
        assert parsed(pod["spec"]["containers"][0]["args"])


class TestKubernetes:
    def test_its_variables_are_settings_and_none_is_a_secret(self):
        assert set(SETTINGS) <= (set(ROWS) - SECRETS) | FILES
        assert {kind for kind, _ in ALL if kind == "Secret"} == set()

    def test_probes_ask_addresses_that_there_are(self):
        (container,) = WEB["containers"]
        probes = [container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness")]
        probes.append(container["readinessProbe"]["httpGet"])
        assert [resolve(one["path"]).route for one in probes] == ["healthz", "healthz", "readyz"]
        assert {one["port"] for one in probes} == {"http"}
        assert container["ports"] == [{"name": "http", "containerPort": DEFAULT_PORT}]
        assert int(parsed(container["args"]).port) == DEFAULT_PORT

    def test_a_pod_has_the_time_that_its_drain_takes(self):
        (container,) = WEB["containers"]
        pause = int(container["lifecycle"]["preStop"]["exec"]["command"][-1])
        drain = int(SETTINGS["COPILOT_DRAIN_S"])
        assert WEB["terminationGracePeriodSeconds"] > pause + drain + SHUTDOWN_MARGIN_SECONDS
