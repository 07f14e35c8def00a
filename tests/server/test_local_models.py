"""Model servers on this machine are offered as providers."""

import socket

import pytest

from copilot_admin.models import Provider
from copilot_admin.server import local_models
from copilot_admin.server.first_start import prepare_first_start
from copilot_admin.server.local_models import find_local_servers
from tests.workspace.model_server import model_server

pytestmark = pytest.mark.django_db


@pytest.fixture
def ollama(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    with model_server() as server:
        monkeypatch.setattr(local_models, "LOCAL_SERVERS", {"Ollama": server.url})
        yield server


def test_a_server_that_is_found_becomes_a_provider_at_the_first_start(ollama):
    login = prepare_first_start()
    assert [server.name for server in login.local_servers] == ["Ollama"]
    assert Provider.objects.get(name="Ollama").base_url == ollama.url
    assert list(find_local_servers()) == []  # it's a provider now


def test_a_port_without_a_server_offers_nothing(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setattr(local_models, "LOCAL_SERVERS", {"Ollama": f"http://127.0.0.1:{port}/v1"})
    assert list(find_local_servers()) == []
