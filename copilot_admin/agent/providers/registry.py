"""The kinds of model providers; a new kind is one class and one entry here."""

from copilot_admin.agent.providers.clouds import AzureOpenAI, Bedrock, Vertex
from copilot_admin.agent.providers.demo import DemoModel
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.model_call import ModelProvider
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import NotReady

PROVIDERS: tuple[type[ModelProvider], ...] = (
    OpenAICompatible,
    AzureOpenAI,
    Bedrock,
    Vertex,
    DemoModel,
)


def provider_kinds() -> tuple[tuple[str, str], ...]:
    """Return kind and label of every provider, in the order of the registry."""
    return tuple((provider.kind, provider.label) for provider in PROVIDERS)


def make_provider(spec: ProviderSpec) -> ModelProvider:
    """Return the provider that a spec describes, or raise `NotReady` if its kind is unknown."""
    for provider in PROVIDERS:
        if provider.kind == spec.kind:
            return provider(spec)
    known = ", ".join(provider.kind for provider in PROVIDERS)
    raise NotReady(f"There is no kind of provider called {spec.kind!r}. Pick one of: {known}.")
