"""Amazon Bedrock: its OpenAI-compatible API, with an API key or the credentials of AWS."""

from typing import Any, ClassVar

import httpx2
import openai
from openai.providers import bedrock

from copilot_admin.agent.fetching.addresses import check_base_url
from copilot_admin.agent.providers.http_client import common_arguments, usable_key
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.spec import ProviderSpec

_ACCESS_KEYS = ("AKIA", "ASIA")  # permanent and temporary ones


class Bedrock(OpenAICompatible):
    """Models of a region; without a key, AWS's usual chain of credentials is used."""

    kind: ClassVar[str] = "bedrock"
    label: ClassVar[str] = "Amazon Bedrock"

    @classmethod
    def make_client(cls, spec: ProviderSpec, http_client: httpx2.AsyncClient) -> openai.AsyncOpenAI:
        """Return the client of the region.

        Raises:
            NotReady: The URL or the key can't be used.
            OpenAIError: A region, credentials or a package are missing.
        """
        arguments: dict[str, Any] = {}
        if spec.options.region:
            arguments["region"] = spec.options.region
        if spec.base_url:
            arguments["base_url"] = check_base_url(spec.base_url)
        key = usable_key(spec)
        if key.startswith(_ACCESS_KEYS) and ":" in key:  # AKIA...:secret or ASIA...:secret:session
            names = ("access_key_id", "secret_access_key", "session_token")
            arguments |= dict(zip(names, key.split(":", 2), strict=False))
        elif key:
            arguments["api_key"] = key
        return openai.AsyncOpenAI(
            provider=bedrock(**arguments), http_client=http_client, **common_arguments(spec)
        )
