"""Azure, Bedrock and Vertex: paths, queries and credentials of their requests."""

import asyncio
import json
import sys

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
import pytest

from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.errors import NotReady, RunError
from tests.agent.providers.openai_asking import deltas_of, hello, make_spec
from tests.agent.providers.upstream import serving

VERSION = {"api_version": "2024-10-21"}
FIRM = "https://firm.openai.azure.com"


def request_of(kind, *, path="", key="sk-test", **options):
    """The request that a provider sends for a question."""

    async def run():
        async with serving(hello) as server:
            spec = make_spec(f"{server.url}{path}", kind=kind, key=key, **options)
            await deltas_of(make_provider(spec), read=server.read)
            return server.requests[0]

    return asyncio.run(run())


def refused(kind, url="", *, key="", **options):
    """The sentence of a provider that can't be asked."""
    with pytest.raises(NotReady) as caught:
        asyncio.run(deltas_of(make_provider(make_spec(url, kind=kind, key=key, **options))))
    return caught.value.public


@pytest.fixture
def entra_id(monkeypatch):
    """Credentials of Entra ID that were asked for; each gives a token."""
    pytest.importorskip("azure.identity")
    made = []

    def credential(name):
        def make(*arguments, **options):
            made.append((name, arguments, options))
            return name

        return make

    for name in ("ClientSecretCredential", "DefaultAzureCredential"):
        monkeypatch.setattr(f"azure.identity.{name}", credential(name))
    monkeypatch.setattr(
        "azure.identity.get_bearer_token_provider", lambda credential, scope: lambda: "token-1"
    )
    return made


@pytest.mark.parametrize(
    ("options", "path"),
    [
        (VERSION, "/openai/deployments/small/chat/completions?api-version=2024-10-21"),
        (
            {**VERSION, "deployment": "ours"},
            "/openai/deployments/ours/chat/completions?api-version=2024-10-21",
        ),
        ({}, "/openai/v1/chat/completions"),
    ],
)
def test_azure_is_asked_below_its_deployment(options, path, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-environment")
    request = request_of("azure", path="/openai/deployments/pasted", **options)
    assert request.path == path
    key = "api-key" if options else "authorization"
    assert request.headers[key] in ("sk-test", "Bearer sk-test")
    assert "openai-organization" not in request.headers
    assert request.json["model"] == "small"


@pytest.mark.parametrize("version", [VERSION, {}])
def test_azure_takes_a_token_of_entra_id(version, entra_id):
    options = {"uses_entra_id": True, "tenant_id": "t", "client_id": "c", **version}
    request = request_of("azure", key="client-secret", **options)
    assert request.headers["authorization"] == "Bearer token-1"
    assert "api-key" not in request.headers
    assert entra_id == [("ClientSecretCredential", ("t", "c", "client-secret"), {})]


def test_azure_takes_the_identity_of_the_server(entra_id):
    request_of("azure", key="", uses_entra_id=True, client_id="managed")
    assert entra_id == [("DefaultAzureCredential", (), {"managed_identity_client_id": "managed"})]


def test_a_token_that_is_not_issued_is_explained(entra_id, monkeypatch):
    def fail():
        raise ValueError("no such tenant")

    monkeypatch.setattr("azure.identity.get_bearer_token_provider", lambda *_: fail)
    assert "Entra ID issued no token: no such tenant" in refused("azure", FIRM, uses_entra_id=True)


@pytest.mark.parametrize(
    ("kind", "options", "module", "sentence"),
    [
        ("azure", {"uses_entra_id": True}, "azure.identity", "copilot-admin[clouds]"),
        ("bedrock", {"region": "eu-west-1"}, "botocore.session", "openai[bedrock]"),
        ("vertex", {"project": "p"}, "google.oauth2.service_account", "copilot-admin[clouds]"),
    ],
)
def test_a_missing_package_is_named(kind, options, module, sentence, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    key = "{}" if kind == "vertex" else ""
    assert sentence in refused(kind, FIRM if kind == "azure" else "", key=key, **options)


@pytest.mark.parametrize(
    ("kind", "url", "key", "sentence"),
    [
        ("azure", "", "", "needs the endpoint"),
        ("azure", FIRM, "", "needs a key, or Entra ID"),
        ("vertex", "", "", "needs the project"),
        ("vertex", FIRM, "{broken", "no key file of a service account"),
        ("bedrock", "", "bedrock-api-key", "region"),
    ],
)
def test_what_is_missing_is_named(kind, url, key, sentence, monkeypatch):
    if key.startswith("{"):
        pytest.importorskip("google.oauth2.service_account")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    assert sentence in refused(kind, url, key=key)


def test_bedrock_takes_an_api_key():
    request = request_of("bedrock", path="/openai/v1", key="bedrock-api-key", region="eu-west-1")
    assert request.path == "/openai/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer bedrock-api-key"


def test_bedrock_signs_with_the_access_keys_of_aws():
    pytest.importorskip("botocore")
    key = "AKIAIOSFODNN7EXAMPLE:secret/access+key:session-token"
    request = request_of("bedrock", path="/openai/v1", key=key, region="eu-west-1")
    authorization = request.headers["authorization"]
    assert authorization.startswith("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/")
    assert "/eu-west-1/bedrock" in authorization
    assert request.headers["x-amz-security-token"] == "session-token"
    assert "secret/access+key" not in str(request)


def test_vertex_takes_a_token():
    request = request_of("vertex", path="/v1/projects/p/locations/l/endpoints/openapi", key="ya29")
    assert request.path == "/v1/projects/p/locations/l/endpoints/openapi/chat/completions"
    assert request.headers["authorization"] == "Bearer ya29"


@pytest.mark.parametrize(
    ("region", "host"),
    [("", "aiplatform.googleapis.com"), ("europe-west4", "europe-west4-aiplatform.googleapis.com")],
)
def test_vertex_is_asked_at_its_location(region, host, monkeypatch):
    urls = []

    async def nowhere(self, host, *_args, **_options):
        urls.append(host)
        raise OSError("no such name")

    monkeypatch.setattr("aiohttp.resolver.ThreadedResolver.resolve", nowhere)
    asked = make_provider(make_spec(kind="vertex", key="ya29", project="p", region=region))
    with pytest.raises(RunError):
        asyncio.run(deltas_of(asked))
    assert urls == [host]


def test_vertex_signs_in_with_a_key_file(monkeypatch):
    service_account = pytest.importorskip("google.oauth2.service_account")

    def refresh(credentials, request):
        credentials.token = f"token of {credentials.service_account_email}".replace(" ", "-")

    monkeypatch.setattr(service_account.Credentials, "refresh", refresh)
    private = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    key_file = {
        "type": "service_account",
        "client_email": "copilot@p.example",
        "token_uri": "https://oauth2.example.com/token",
        "private_key": private.decode(),
    }
    request = request_of("vertex", path="/v1", key=json.dumps(key_file))
    assert request.headers["authorization"] == "Bearer token-of-copilot@p.example"
