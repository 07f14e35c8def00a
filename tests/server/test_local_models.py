"""Model servers on this machine are offered as providers."""

from collections.abc import Iterator
from contextlib import contextmanager
import json

import pytest

from copilot_admin.models import Provider
from copilot_admin.server import first_start
from copilot_admin.server.first_start import find_local_servers, prepare_first_start
from tests.http_stub import Request, http_stub

pytestmark = pytest.mark.django_db


@contextmanager
def list_models(body: object) -> Iterator[str]:
    """Serve a list of models; yield the base URL."""

    def handle(request: Request) -> None:
        status = 200 if request.path == "/v1/models" else 404
        request.answer(json.dumps(body).encode(), status)

    with http_stub(handle) as url:
        yield f"{url}/v1"


def test_a_server_that_is_found_becomes_a_provider_at_the_first_start(
    settings, tmp_path, monkeypatch
):
    settings.DATA_DIR = tmp_path
    with list_models({"data": [{"id": "qwen3"}, {"id": "gemma3"}]}) as url:
        monkeypatch.setattr(first_start, "LOCAL_SERVERS", {"Ollama": url})
        login = prepare_first_start()
        assert login is not None
        assert [server.models for server in login.local_servers] == [2]
        assert Provider.objects.get(name="Ollama").base_url == url
        assert list(find_local_servers()) == []  # it's a provider now
