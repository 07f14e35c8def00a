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
    def test_our_services_can_do_little(self, name):
        service = COMPOSE["services"][name]
        assert (service["read_only"], service["cap_drop"], service["security_opt"]) == (
            True,
            ["ALL"],
            ["no-new-privileges:true"],
        )
        assert service["volumes"] == ["data:/data"]

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

    def test_secrets_are_files_that_the_repository_does_not_keep(self):
        files = {one["file"] for one in COMPOSE["secrets"].values()}
        assert all(file.startswith("./secrets/") for file in files)
        assert "/secrets/" in (BASE_DIR / ".gitignore").read_text().splitlines()

    @pytest.mark.parametrize("name", ["web", "worker", "nginx"])
    def test_nothing_is_killed_while_it_drains(self, name):
        drain = seconds(COMPOSE["services"]["web"]["environment"]["COPILOT_DRAIN_S"])
        grace = seconds(COMPOSE["services"][name]["stop_grace_period"])
        assert grace > drain + SHUTDOWN_MARGIN_SECONDS

    def test_only_nginx_is_reached_from_outside(self):
        assert [name for name, one in COMPOSE["services"].items() if "ports" in one] == ["nginx"]

    def test_the_proxies_that_are_believed_are_those_of_the_inner_network(self):
        (subnet,) = COMPOSE["networks"]["inside"]["ipam"]["config"]
        believed = COMPOSE["services"]["web"]["environment"]["FORWARDED_ALLOW_IPS"]
        assert believed == subnet["subnet"]


@pytest.mark.parametrize("pod", PODS.values(), ids=PODS)
class TestEveryPod:
    def test_it_fits_the_restricted_standard_and_writes_to_volumes_only(self, pod):
        spec = pod["spec"]
        (container,) = spec["containers"]
        assert spec["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "runAsGroup": 10001,
            "fsGroup": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert spec["automountServiceAccountToken"] is False

    def test_its_command_is_understood(self, pod):
        assert parsed(pod["spec"]["containers"][0]["args"])

    def test_it_has_room_to_work_and_an_end(self, pod):
        resources = pod["spec"]["containers"][0]["resources"]
        assert "memory" in resources["requests"] and "memory" in resources["limits"]


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

    def test_there_is_always_one_that_answers(self):
        deployment = ALL["Deployment", "copilot-admin-web"]["spec"]
        assert deployment["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
        budget = ALL["PodDisruptionBudget", "copilot-admin-web"]["spec"]
        assert budget["minAvailable"] < deployment["replicas"]
        labels = PODS["copilot-admin-web"]["metadata"]["labels"]
        assert labels == budget["selector"]["matchLabels"] == deployment["selector"]["matchLabels"]
        assert ALL["Service", "copilot-admin-web"]["spec"]["selector"] == labels

    def test_only_the_ingress_reaches_the_servers(self):
        (rule,) = ALL["NetworkPolicy", "copilot-admin"]["spec"]["ingress"]
        assert rule["ports"] == [{"protocol": "TCP", "port": DEFAULT_PORT}]
        (host,) = ALL["Ingress", "copilot-admin"]["spec"]["rules"]
        assert SETTINGS["PUBLIC_URL"] == f"https://{host['host']}"
