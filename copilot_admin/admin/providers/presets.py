"""Vendors of the page "Connect a provider", and what each of them needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.agent.providers.clouds import AzureOpenAI, Bedrock, Vertex
from copilot_admin.agent.providers.demo import DemoModel
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.providers.registry import provider_kinds

_LOADING_SECONDS = 300  # a local server loads its model on the first request
_CLOUD = ("api_key", "base_url")
_LOCAL = ("base_url", "api_key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One vendor."""

    name: str
    initials: str  # of its tile
    base_url: str = ""
    kind: str = OpenAICompatible.kind
    fields: tuple[str, ...] = _CLOUD  # of the form, in the order in which they are shown
    values: Mapping[str, str | int | bool] = field(default_factory=dict)  # of other fields
    key_help: str | Promise = ""  # where to get the key


def _cloud(name: str, initials: str, base_url: str, key_page: str, **values: str | bool) -> Preset:
    text = _("Create one at %(page)s.") % {"page": key_page}
    return Preset(name=name, initials=initials, base_url=base_url, key_help=text, values=values)


def _local(name: str, initials: str, port: int) -> Preset:
    return Preset(
        name=name,
        initials=initials,
        base_url=f"http://127.0.0.1:{port}/v1",
        fields=_LOCAL,
        values={"first_token": _LOADING_SECONDS},
        key_help=_("Leave blank if the server needs no key."),
    )


PRESETS = (
    _cloud("OpenAI", "O", "https://api.openai.com/v1", "platform.openai.com/api-keys"),
    Preset(
        name="Azure OpenAI",
        initials="Az",
        kind=AzureOpenAI.kind,
        base_url="https://RESOURCE.openai.azure.com",
        fields=("base_url", "api_key", "deployment", "api_version"),
        key_help=_("In the Azure portal, under Keys and Endpoint of your resource."),
    ),
    _cloud("Anthropic", "A", "https://api.anthropic.com/v1", "console.anthropic.com"),
    _cloud(
        "Gemini",
        "G",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "aistudio.google.com/apikey",
    ),
    _cloud("Mistral", "M", "https://api.mistral.ai/v1", "console.mistral.ai"),
    _cloud("Groq", "Gr", "https://api.groq.com/openai/v1", "console.groq.com/keys"),
    _cloud("OpenRouter", "Or", "https://openrouter.ai/api/v1", "openrouter.ai/keys"),
    Preset(
        name="Amazon Bedrock",
        initials="Be",
        kind=Bedrock.kind,
        fields=("region", "api_key"),
        values={"region": "us-east-1"},
        key_help=_("A Bedrock API key, or ACCESS_KEY_ID:SECRET. Blank: the server's AWS profile."),
    ),
    Preset(
        name="Google Vertex AI",
        initials="Ve",
        kind=Vertex.kind,
        fields=("project", "region", "api_key"),
        values={"region": "global"},
        key_help=_("The JSON of a service account. Blank: the server's Google credentials."),
    ),
    _cloud("DeepSeek", "De", "https://api.deepseek.com/v1", "platform.deepseek.com/api_keys"),
    _cloud("xAI", "x", "https://api.x.ai/v1", "console.x.ai"),
    _cloud("Together", "To", "https://api.together.xyz/v1", "api.together.ai/settings/api-keys"),
    _cloud(
        "Perplexity",
        "Pe",
        "https://api.perplexity.ai",
        "perplexity.ai/settings/api",
        tool_calling="text",
        merges_messages=True,  # roles have to alternate
    ),
    _local("Ollama", "Ol", 11434),
    _local("LM Studio", "LM", 1234),
    _local("vLLM", "vL", 8000),
    _local("llama.cpp", "ll", 8080),
    Preset(
        name="LiteLLM",
        initials="Li",
        base_url="http://127.0.0.1:4000/v1",
        fields=_LOCAL,
        key_help=_("A virtual key of your proxy."),
    ),
    Preset(name="Other", initials="…", fields=_LOCAL, key_help=_("Leave blank if none is needed.")),
    Preset(name="Demo", initials="De", kind=DemoModel.kind, fields=()),
)


def list_presets() -> dict[str, Preset]:
    """Return the vendors by name, with each registered kind of provider that has no vendor."""
    known = {preset.kind for preset in PRESETS}
    others = (
        Preset(name=label, initials=label[:2], kind=kind, fields=_LOCAL)
        for kind, label in provider_kinds()
        if kind not in known
    )
    return {preset.name: preset for preset in (*PRESETS, *others)}
