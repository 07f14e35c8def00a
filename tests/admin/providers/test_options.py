"""Options of providers in their form: clouds, networks and request headers."""

from pathlib import Path
from typing import Any

from django.test import Client
import pytest

from copilot_admin.agent.fetching.addresses import correct_base_url
from copilot_admin.copilots.providers import read_headers, set_headers
from copilot_admin.import_export.exporting import provider_entry
from copilot_admin.import_export.importing import import_values
from copilot_admin.models import Access, AuditEntry, Provider
from tests.admin.pages import errors_of, messages_of, submit, url_of
from tests.factories import make_provider

pytestmark = pytest.mark.django_db
CANARY = "canary-of-a-header-0123456789"
MASK = "••••••"


def save(client: Client, provider: Provider, **changes: Any) -> Any:
    url = url_of(provider)
    response = submit(client, url, changes, form_id="provider_form")
    provider.refresh_from_db()
    return response


def with_headers(**headers: str) -> Provider:
    provider = make_provider(base_url="https://api.example.com/v1")
    set_headers(provider, headers)
    return provider


def test_options_are_stored_if_they_differ_from_the_defaults(
    operator: Client, tmp_path: Path
) -> None:
    provider = make_provider()
    bundle = tmp_path / "ca.pem"
    bundle.write_text("")
    save(
        operator,
        provider,
        organization="org-1",
        proxy="http://proxy.example.com:3128/",
        ca_bundle=str(bundle),
        merges_messages=True,
        streams=False,
    )
    assert provider.options == {
        "organization": "org-1",
        "proxy": "http://proxy.example.com:3128",
        "ca_bundle": str(bundle),
        "merges_messages": True,
        "streams": False,
    }


def test_header_values_are_encrypted_and_never_shown(operator: Client) -> None:
    provider = make_provider(base_url="https://api.example.com/v1")
    save(operator, provider, headers=f"X-Gateway: {CANARY}\nHTTP-Referer: https://copilots.example")
    assert read_headers(provider)["X-Gateway"] == CANARY
    assert CANARY not in provider.headers_cipher
    page = operator.get(url_of(provider))
    assert f"X-Gateway: {MASK}" in page.content.decode()
    assert CANARY not in page.content.decode()
    assert CANARY not in str(provider_entry(provider))
    assert CANARY not in str(list(AuditEntry.objects.values()))


def test_a_masked_line_keeps_its_value_and_a_missing_one_goes(operator: Client) -> None:
    provider = with_headers(**{"X-Old": CANARY, "X-Gone": "g"})
    save(operator, provider, headers=f"X-Old: {MASK}\nX-New: n\nX-Unknown: {MASK}")
    assert read_headers(provider) == {"X-Old": CANARY, "X-New": "n"}


@pytest.mark.parametrize(
    "changes",
    [{"base_url": "https://other.example.com/v1"}, {"proxy": "http://proxy.example.com:3128"}],
)
def test_headers_are_forgotten_when_they_would_reach_another_server(
    operator: Client, changes: dict[str, str]
) -> None:
    provider = with_headers(**{"X-Key": CANARY})
    response = save(operator, provider, **changes)
    assert read_headers(provider) == {}
    assert 'data-message="warning"' in response.content.decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("headers", "no colon"),
        ("headers", "X-A: ä"),
        ("headers", "Host: example.com"),
        ("proxy", "proxy:3128"),
        ("proxy", "http://me:secret@proxy.example.com"),
        ("ca_bundle", "/no/such/file.pem"),
        ("client_certificate", "/no/such/file.pem"),
        ("region", "us east"),
    ],
)
def test_an_invalid_option_is_reported_at_its_field(
    operator: Client, field: str, value: str
) -> None:
    response = save(operator, make_provider(), **{field: value})
    assert list(errors_of(response)) == [field]


@pytest.mark.parametrize(
    ("pasted", "kept"),
    [
        ("https://h/v1/chat/completions", "https://h/v1"),
        ("https://h/v1/chat/completions/?a=b", "https://h/v1?a=b"),
        ("https://h/v1/models", "https://h/v1"),
        ("https://h/models-of-ours", "https://h/models-of-ours"),
    ],
)
def test_the_path_of_a_request_is_taken_off_a_base_url(pasted: str, kept: str) -> None:
    assert correct_base_url(pasted) == kept


def test_a_corrected_base_url_is_noted(operator: Client) -> None:
    provider = make_provider()
    response = save(operator, provider, base_url="https://api.example.com/v1/chat/completions")
    assert provider.base_url == "https://api.example.com/v1"
    assert "https://api.example.com/v1." in messages_of(response)[0]


def test_a_pasted_url_of_azure_fills_in_deployment_and_version(operator: Client) -> None:
    provider = make_provider()
    url = "https://firm.openai.azure.com/openai/deployments/gpt-4o/chat/completions"
    save(operator, provider, kind="azure", base_url=f"{url}?api-version=2024-10-21")
    assert provider.base_url == "https://firm.openai.azure.com"
    assert provider.options == {"deployment": "gpt-4o", "api_version": "2024-10-21"}


def test_a_file_carries_the_options_without_secrets() -> None:
    provider = with_headers(**{"X-Key": CANARY})
    provider.options = {"region": "eu-west-1", "streams": False}
    provider.save()
    entry = provider_entry(provider)
    assert entry["options"] == {"region": "eu-west-1", "streams": False}
    entry = {**entry, "name": "Copy", "base_url": "https://api.example.com/v1/chat/completions"}
    import_values({"format": 1, "providers": [entry]}, default_access=Access.KEY)
    copy = Provider.objects.get(name="Copy")
    assert (copy.base_url, copy.options) == ("https://api.example.com/v1", provider.options)
