"""The first admin, the sample copilots, and local servers that are found."""

from collections.abc import Iterator
from contextlib import contextmanager
import json
import stat

from django.contrib.auth.models import User
import pytest

from copilot_admin.copilots.publishing import checklist
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Copilot, CopilotVersion, Provider
from copilot_admin.server import first_start
from copilot_admin.server.first_start import LOGIN_FILE, find_local_servers, prepare_first_start
from tests.http_stub import Request, http_stub

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _data_folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path


@pytest.mark.database
def test_the_first_start_creates_an_admin_and_samples_and_the_second_nothing(tmp_path):
    file = tmp_path / LOGIN_FILE
    file.write_text("old")
    file.chmod(0o644)
    login = prepare_first_start()

    assert login is not None
    assert file.read_text() == f"username: admin\npassword: {login.password}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert login.password not in repr(login)
    admin = User.objects.get()
    assert (admin.username, admin.is_superuser) == ("admin", True)
    assert admin.check_password(login.password)
    assert list(Copilot.objects.published().values_list("slug", "access")) == [
        ("market-brief", "open"),
        ("portfolio-commentary", "open"),
        ("table-and-chart-desk", "open"),
    ]
    assert [checklist(copilot).errors for copilot in Copilot.objects.all()] == [(), (), ()]
    Copilot.objects.get(slug="market-brief").delete()

    assert prepare_first_start() is None
    assert (Copilot.objects.count(), CopilotVersion.objects.count()) == (2, 2)


def test_production_generates_no_password(settings, tmp_path):
    settings.PRODUCTION = True
    with pytest.raises(ConfigurationError, match="createsuperuser"):
        prepare_first_start()
    assert (User.objects.count(), Copilot.objects.count()) == (0, 0)
    assert not (tmp_path / LOGIN_FILE).exists()
    User.objects.create_superuser("operator", password="x")
    assert prepare_first_start() is None


def test_the_samples_use_openai_if_the_environment_has_a_key(settings, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    settings.OPENAI_API_KEY = "sk-0123456789"
    prepare_first_start()
    provider = Provider.objects.get()
    assert (provider.name, provider.kind, provider.base_url, provider.api_key_env) == (
        "OpenAI",
        "openai_compatible",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
    )
    assert {copilot.model for copilot in Copilot.objects.published()} == {settings.OPENAI_MODEL}


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
