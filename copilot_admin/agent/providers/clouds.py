"""OpenAI-compatible APIs of clouds: Azure OpenAI, Amazon Bedrock and Google Vertex AI."""

import asyncio
from collections.abc import Awaitable, Callable
import json
from typing import Any, ClassVar
from urllib.parse import urlsplit

import httpx2
import openai
from openai.providers import bedrock, vertex

from copilot_admin.agent.fetching.addresses import check_base_url
from copilot_admin.agent.providers.http_client import common_arguments, usable_key
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import NotReady

_ENTRA_SCOPE = "https://cognitiveservices.azure.com/.default"
_AWS_ACCESS_KEYS = ("AKIA", "ASIA")  # permanent and temporary ones


class AzureOpenAI(OpenAICompatible):
    """A resource of Azure, with a key or with Entra ID; without an API version its `v1` API is used."""

    kind: ClassVar[str] = "azure"
    label: ClassVar[str] = "Azure OpenAI"

    @classmethod
    def make_client(cls, spec: ProviderSpec, http_client: httpx2.AsyncClient) -> openai.AsyncOpenAI:
        if not spec.base_url:
            raise NotReady(f"The provider {spec.name!r} needs the endpoint of its Azure resource.")
        endpoint = get_endpoint(check_base_url(spec.base_url))
        key = usable_key(spec)
        arguments = common_arguments(spec, http_client)
        token = _make_token_provider(spec, key) if spec.options.uses_entra_id else None
        if not (token or key):
            raise NotReady(f"The provider {spec.name!r} needs a key, or Entra ID switched on.")
        if spec.options.api_version:
            client = openai.AsyncAzureOpenAI(
                azure_endpoint=endpoint,
                azure_deployment=spec.options.deployment or None,  # else the model's name
                api_version=spec.options.api_version,
                **({"azure_ad_token_provider": token} if token else {"api_key": key}),
                **arguments,
            )
        else:
            client = openai.AsyncOpenAI(
                base_url=f"{endpoint}/openai/v1", api_key=token or key, **arguments
            )
        client.organization = client.project = None  # otherwise they are read from the environment
        return client

    @property
    def _headers(self) -> dict[str, Any]:
        return {}


def get_endpoint(url: str) -> str:
    """Return the endpoint in a URL that may continue with the path of a deployment."""
    parts = urlsplit(url)
    path = parts.path.partition("/openai")[0].rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}"


def _missing_package(spec: ProviderSpec, package: str) -> NotReady:
    return NotReady(
        f"The provider {spec.name!r} needs the package {package}. Install copilot-admin[clouds]."
    )


def _make_token_provider(spec: ProviderSpec, secret: str) -> Callable[[], Awaitable[str]]:
    """Return a source of Entra ID tokens: of client credentials, or of this machine's identity."""
    try:
        from azure.identity import (  # optional
            ClientSecretCredential,
            DefaultAzureCredential,
            get_bearer_token_provider,
        )
    except ImportError:
        raise _missing_package(spec, "azure-identity for Entra ID") from None
    options = spec.options
    credential: ClientSecretCredential | DefaultAzureCredential
    if options.tenant_id and options.client_id and secret:
        credential = ClientSecretCredential(options.tenant_id, options.client_id, secret)
    else:
        credential = DefaultAzureCredential(managed_identity_client_id=options.client_id or None)
    provider = get_bearer_token_provider(credential, _ENTRA_SCOPE)

    async def get_token() -> str:
        try:
            return str(await asyncio.to_thread(provider))
        except Exception as error:  # azure has its own errors, which may not be installed
            raise openai.OpenAIError(f"Entra ID issued no token: {error}") from error

    return get_token


class Bedrock(OpenAICompatible):
    """Models of a region; without a key, AWS's usual chain of credentials is used."""

    kind: ClassVar[str] = "bedrock"
    label: ClassVar[str] = "Amazon Bedrock"

    @classmethod
    def make_client(cls, spec: ProviderSpec, http_client: httpx2.AsyncClient) -> openai.AsyncOpenAI:
        arguments: dict[str, Any] = {}
        if spec.options.region:
            arguments["region"] = spec.options.region
        if spec.base_url:
            arguments["base_url"] = check_base_url(spec.base_url)
        key = usable_key(spec)
        if (
            key.startswith(_AWS_ACCESS_KEYS) and ":" in key
        ):  # AKIA...:secret or ASIA...:secret:session
            names = ("access_key_id", "secret_access_key", "session_token")
            arguments |= dict(zip(names, key.split(":", 2), strict=False))
        elif key:
            arguments["api_key"] = key
        provider = bedrock(**arguments)
        return openai.AsyncOpenAI(provider=provider, **common_arguments(spec, http_client))


class Vertex(OpenAICompatible):
    """Models of a project and location; without a key, application default credentials are used."""

    kind: ClassVar[str] = "vertex"
    label: ClassVar[str] = "Google Vertex AI"

    @classmethod
    def make_client(cls, spec: ProviderSpec, http_client: httpx2.AsyncClient) -> openai.AsyncOpenAI:
        project, location = spec.options.project, spec.options.region or "global"
        if not (spec.base_url or project):
            raise NotReady(f"The provider {spec.name!r} needs the project of Google Cloud.")
        prefix = "" if location == "global" else f"{location}-"
        url = spec.base_url or (
            f"https://{prefix}aiplatform.googleapis.com/v1/projects/{project}/locations/{location}"
            "/endpoints/openapi"
        )
        arguments: dict[str, Any] = {"base_url": check_base_url(url)}
        if spec.api_key.lstrip().startswith("{"):
            arguments["credentials"] = _read_service_account(spec)
        elif key := usable_key(spec):
            arguments["token_provider"] = lambda: key
        provider = vertex(**arguments)
        return openai.AsyncOpenAI(provider=provider, **common_arguments(spec, http_client))


def _read_service_account(spec: ProviderSpec) -> Any:
    try:
        from google.oauth2.service_account import Credentials  # optional
    except ImportError:
        raise _missing_package(spec, "google-auth") from None
    try:
        make: Any = Credentials.from_service_account_info  # untyped
        return make(json.loads(spec.api_key))
    except (ValueError, TypeError):
        raise NotReady(
            f"The key of the provider {spec.name!r} is no key file of a service account."
        ) from None
