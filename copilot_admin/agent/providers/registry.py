"""The kinds of model providers; a new kind is one file and one entry here."""

from copilot_admin.agent.providers.azure import AzureOpenAI
from copilot_admin.agent.providers.bedrock import Bedrock
from copilot_admin.agent.providers.demo import DemoModel
from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.providers.vertex import Vertex
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


def provider_class(kind: str) -> type[ModelProvider]:
    """Return the class of a kind.

    Raises:
        NotReady: The kind is unknown; the text lists the known ones.
    """
    for provider in PROVIDERS:
        if provider.kind == kind:
            return provider
    known = ", ".join(kind for kind, _ in provider_kinds())
    raise NotReady(f"There is no kind of provider called {kind!r}. Pick one of: {known}.")


def make_provider(spec: ProviderSpec) -> ModelProvider:
    """Return the provider that a spec describes.

    Raises:
        NotReady: The spec can't work; the text describes the required change.
    """
    return provider_class(spec.kind)(spec)
