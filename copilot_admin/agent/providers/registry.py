"""Finds the providers: every module of this folder that holds a class with a `kind`.

Adding a provider is adding a file with one class that is a `ModelProvider`.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import cast

from copilot_admin.agent import providers
from copilot_admin.agent.llm.text_tools import TextTools
from copilot_admin.agent.values.model_call import ModelProvider
from copilot_admin.agent.values.spec import ProviderSpec, ToolCalling
from copilot_admin.errors import NotReady


def provider_kinds() -> tuple[tuple[str, str], ...]:
    """Kind and label of every provider, in alphabetical order of the kinds."""
    return tuple((kind, _providers()[kind].label) for kind in sorted(_providers()))


def provider_class(kind: str) -> type[ModelProvider]:
    """The class of this kind.

    Raises:
        NotReady: There is none; the text names those there are.
    """
    found = _providers().get(kind)
    if found is None:
        known = ", ".join(kind for kind, _ in provider_kinds())
        raise NotReady(f"There is no kind of provider called {kind!r}. Pick one of: {known}.")
    return found


def make_provider(spec: ProviderSpec) -> ModelProvider:
    """The provider that a spec describes.

    Raises:
        NotReady: The spec cannot work; the text says what to change.
    """
    provider = provider_class(spec.kind)(spec)
    if spec.tool_calling is ToolCalling.TEXT:
        return cast(
            ModelProvider, TextTools(provider)
        )  # of a kind's class it needs only the methods
    return provider


async def aclose_all() -> None:
    """Closes the connections that providers share in the running loop, at the end of a process.

    A provider that keeps any has a class method `aclose_shared`.
    """
    for provider in _providers().values():
        aclose_shared = getattr(provider, "aclose_shared", None)
        if aclose_shared is not None:
            await aclose_shared()


@cache
def _providers() -> Mapping[str, type[ModelProvider]]:
    modules = (
        import_module(f"{providers.__name__}.{module.name}")
        for module in iter_modules(providers.__path__)
    )
    classes = (
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    )
    found = (cast("type[ModelProvider]", one) for one in classes if hasattr(one, "kind"))
    return {one.kind: one for one in found}
