"""Presets of the provider form: what well-known servers need."""

from dataclasses import dataclass, field
import json

from copilot_admin.agent.providers.azure import AzureOpenAI
from copilot_admin.agent.providers.bedrock import Bedrock
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.providers.vertex import Vertex

_LOADING_SECONDS = 300  # a server that first loads its model


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Values of the form for one kind of server; fields that it doesn't name are left alone."""

    name: str
    base_url: str = ""
    kind: str = OpenAICompatible.kind
    values: dict[str, str | int | bool] = field(default_factory=dict)


def _local(name: str, port: int) -> Preset:
    values: dict[str, str | int | bool] = {"first_token": _LOADING_SECONDS}
    return Preset(name=name, base_url=f"http://127.0.0.1:{port}/v1", values=values)


PRESETS = (
    Preset(name="OpenAI", base_url="https://api.openai.com/v1"),
    Preset(
        name="Azure OpenAI",
        kind=AzureOpenAI.kind,
        base_url="https://RESOURCE.openai.azure.com",
    ),
    Preset(name="Amazon Bedrock", kind=Bedrock.kind, values={"region": "us-east-1"}),
    Preset(name="Google Vertex AI", kind=Vertex.kind, values={"region": "global"}),
    Preset(name="Anthropic", base_url="https://api.anthropic.com/v1"),
    Preset(name="Gemini", base_url="https://generativelanguage.googleapis.com/v1beta/openai"),
    Preset(name="Mistral", base_url="https://api.mistral.ai/v1"),
    Preset(name="DeepSeek", base_url="https://api.deepseek.com/v1"),
    Preset(name="xAI", base_url="https://api.x.ai/v1"),
    Preset(name="Groq", base_url="https://api.groq.com/openai/v1"),
    Preset(name="OpenRouter", base_url="https://openrouter.ai/api/v1"),
    Preset(name="Together", base_url="https://api.together.xyz/v1"),
    Preset(
        name="Perplexity",
        base_url="https://api.perplexity.ai",
        values={"tool_calling": "text", "merges_messages": True},  # roles have to alternate
    ),
    _local("Ollama", 11434),
    _local("LM Studio", 1234),
    _local("vLLM", 8000),
    _local("llama.cpp", 8080),
    Preset(name="LiteLLM", base_url="http://127.0.0.1:4000/v1"),
)


def presets_as_json() -> str:
    """Return the values of each preset by its name, for the script of the form."""
    return json.dumps(
        {
            preset.name: {"base_url": preset.base_url, "kind": preset.kind, **preset.values}
            for preset in PRESETS
        }
    )
