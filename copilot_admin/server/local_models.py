"""Model servers on this machine: found at a start, and offered as providers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import httpx2

from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.models import Provider
from protocol.json import JsonObject

LOCAL_SERVERS: Mapping[str, str] = {
    "Ollama": "http://127.0.0.1:11434/v1",
    "LM Studio": "http://127.0.0.1:1234/v1",
}
_TIMEOUT_SECONDS = 1.0
_LOADING_SECONDS = 300  # a local server loads its model on the first request


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    name: str
    base_url: str
    models: int

    @property
    def provider(self) -> JsonObject:
        """Entry of a copilot file."""
        return {
            "name": self.name,
            "kind": OpenAICompatible.kind,
            "base_url": self.base_url,
            "timeout_s": {"first_token": _LOADING_SECONDS},
        }


def find_local_servers() -> Iterator[LocalServer]:
    """Yield the model servers on this machine that have a model and aren't providers yet."""
    known = set(Provider.objects.values_list("base_url", flat=True))
    for name, base_url in LOCAL_SERVERS.items():
        number = 0 if base_url in known else _count_models(base_url)
        if number:
            yield LocalServer(name=name, base_url=base_url, models=number)


def _count_models(base_url: str) -> int:
    try:
        # Without the environment: the firm's proxy doesn't reach this machine.
        with httpx2.Client(trust_env=False, timeout=_TIMEOUT_SECONDS) as client:
            models = client.get(f"{base_url}/models").raise_for_status().json()
    except (httpx2.HTTPError, ValueError):
        return 0
    data = models.get("data") if isinstance(models, dict) else None
    return len(data) if isinstance(data, list) else 0
