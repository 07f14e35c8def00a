"""Google Vertex AI: its OpenAI-compatible API, with the credentials of Google Cloud."""

import json
from typing import Any, ClassVar

import httpx2
import openai
from openai.providers import vertex

from copilot_admin.agent.fetching.addresses import check_base_url
from copilot_admin.agent.providers.http_client import common_arguments, usable_key
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import NotReady


class Vertex(OpenAICompatible):
    """Models of a project and location; without a key, application default credentials are used."""

    kind: ClassVar[str] = "vertex"
    label: ClassVar[str] = "Google Vertex AI"

    @classmethod
    def make_client(cls, spec: ProviderSpec, http_client: httpx2.AsyncClient) -> openai.AsyncOpenAI:
        """Return the client of the project.

        Raises:
            NotReady: The project, the location or the key can't be used.
            OpenAIError: A package is missing.
        """
        arguments: dict[str, Any] = {"base_url": _base_url(spec)}
        if spec.api_key.lstrip().startswith("{"):
            arguments["credentials"] = _read_service_account(spec)
        elif key := usable_key(spec):
            arguments["token_provider"] = lambda: key
        return openai.AsyncOpenAI(
            provider=vertex(**arguments), http_client=http_client, **common_arguments(spec)
        )


def _base_url(spec: ProviderSpec) -> str:
    if spec.base_url:
        return check_base_url(spec.base_url)
    project, location = spec.options.project, spec.options.region or "global"
    if not project:
        raise NotReady(f"The provider {spec.name!r} needs the project of Google Cloud.")
    prefix = "" if location == "global" else f"{location}-"
    return check_base_url(
        f"https://{prefix}aiplatform.googleapis.com/v1/projects/{project}/locations/{location}"
        "/endpoints/openapi"
    )


def _read_service_account(spec: ProviderSpec) -> Any:
    try:
        from google.oauth2.service_account import Credentials  # optional
    except ImportError:
        raise NotReady(
            f"The provider {spec.name!r} needs the package google-auth. Install "
            "copilot-admin[clouds]."
        ) from None
    try:
        make: Any = Credentials.from_service_account_info  # untyped
        return make(json.loads(spec.api_key))
    except (ValueError, TypeError):
        raise NotReady(
            f"The key of the provider {spec.name!r} is no key file of a service account."
        ) from None
