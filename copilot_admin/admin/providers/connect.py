"""Connecting a provider in one step: test, fetch the models, save."""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from asgiref.sync import async_to_sync
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.admin.common.widgets import describe_errors
from copilot_admin.admin.providers.form import ProviderForm
from copilot_admin.admin.providers.option_fields import changed_options
from copilot_admin.admin.providers.presets import Preset
from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.model_call import (
    Finish,
    ModelCall,
    ModelMessage,
    ModelProvider,
    ModelRole,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolSchema,
)
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.config import logs
from copilot_admin.copilots.checklist.known_models import (
    is_no_chat,
    pick_chat_model,
    sees_images,
    takes_no_tools,
    window_of,
)
from copilot_admin.copilots.names import free_name
from copilot_admin.copilots.providers import check_key_variable, provider_spec, read_timeouts
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.models import ModelPrice, Provider
from copilot_admin.pricing.cost import format_exact
from copilot_admin.pricing.price_list import find_listed_model

QUESTION = "Answer with the one word: ready"
# Copilots offer tools: a model or server that accepts none should fail here.
TOOL = ToolSchema(
    name="current_time",
    description="The current time. Not needed for this question.",
    parameters={"type": "object", "properties": {}},
)
TIMEOUT_SECONDS = 30.0  # a person waits for the page; the provider's own timeouts are for answers
MAX_MODEL_CHARACTERS = 200
MODEL_FIELD = "test_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """Outcome of a check."""

    model: str = ""  # that answered
    seconds: float = 0  # to its first text
    models: tuple[str, ...] = ()  # that the provider lists
    error: str = ""  # with the provider's own words
    needs_model: bool = False  # naming a model may help


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """A model as menus and tables show it; `price` is in dollars per million tokens."""

    id: str
    context: str
    has_tools: bool
    has_vision: bool
    price: str
    is_free: bool


def build_model_rows(provider: Provider, models: Iterable[str]) -> tuple[ModelRow, ...]:
    """Return the chat models of a provider with what is known about them."""
    rows = ModelPrice.objects.filter(provider=provider, valid_from__lte=timezone.now().date())
    prices = {
        model: amounts
        for model, *amounts in rows.order_by("valid_from").values_list("model", "input", "output")
    }
    return tuple(
        ModelRow(
            id=model,
            context=_format_window(provider, model),
            has_tools=window_of(model) is not None and not takes_no_tools(model),
            has_vision=sees_images(model),
            price=" / ".join(f"${format_exact(one)}" for one in prices.get(model, ())),
            is_free=model in prices and not any(prices[model]),
        )
        for model in models
        if not is_no_chat(model)
    )


def _format_window(provider: Provider, model: str) -> str:
    tokens = window_of(model)
    if tokens is None and (entry := find_listed_model(provider, model)):
        tokens = entry.context_window
    if tokens is None:
        return ""
    return f"{tokens // 1_000_000}M" if tokens >= 1_000_000 else f"{round(tokens / 1000)}k"


async def check_provider(provider: ModelProvider, model: str) -> CheckResult:
    """Fetch the models and send one question to one of them; "" is one that chats."""
    models: tuple[str, ...] = ()
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            try:
                models = tuple(await provider.models())
            except (RunError, ConfigurationError) as error:
                if not model:  # some servers list no models, but answer
                    return CheckResult(error=describe_error(error), needs_model=True)
            wanted = model or pick_chat_model(models)
            if not wanted:
                text = _("The provider lists no chat model. Enter a model ID and try again.")
                return CheckResult(models=models, error=text, needs_model=True)
            seconds = await _measure_first_token(provider, wanted)
            return CheckResult(model=wanted, seconds=seconds, models=models or (wanted,))
    except TimeoutError:
        text = _("No answer within %(seconds)d seconds. Check the URL and your network.")
        return CheckResult(models=models, error=text % {"seconds": TIMEOUT_SECONDS})
    except (RunError, ConfigurationError) as error:
        return CheckResult(models=models, error=describe_error(error), needs_model=bool(models))


async def _measure_first_token(provider: ModelProvider, model: str) -> float:
    call = ModelCall(
        model=model,
        messages=(
            ModelMessage(role=ModelRole.SYSTEM, text="You are tested."),
            ModelMessage(role=ModelRole.USER, text=QUESTION),
        ),
        tools=(TOOL,),
    )
    started = monotonic()
    async with aclosing(provider.stream(call)) as deltas:
        async for delta in deltas:
            if isinstance(delta, TextDelta | ReasoningDelta | ToolCall | Finish):
                break
    return monotonic() - started


def spec_of_form(form: ProviderForm) -> ProviderSpec:
    """Return the provider that a valid form describes; its instance must not be saved afterwards.

    A stored key, or one in a variable, goes only to the servers that it was saved with.
    """
    provider = form.instance
    if form.new_key is not None:
        provider.api_key_cipher = ""
    if form.new_key:
        provider.api_key_env = ""  # what was typed takes precedence
    provider.options = changed_options(form.cleaned_data)
    provider.headers_cipher = ""
    check_key_variable(provider)
    spec = provider_spec(provider)
    spec = replace(
        spec,
        timeouts=read_timeouts(form.timeouts),
        options=replace(spec.options, headers=tuple(form.new_headers.items())),
    )
    if form.new_key:
        logs.hide(form.new_key)
        return replace(spec, api_key=form.new_key)
    return spec


def check_form(form: ProviderForm, *, model: str = "") -> CheckResult:
    """Check the provider that a form describes, saved or not."""
    form.fields["name"].required = False  # a provider needs no name to be tested
    if form.errors:
        return CheckResult(error=describe_errors(form))
    try:
        provider = make_provider(spec_of_form(form))
        return async_to_sync(check_provider)(provider, model[:MAX_MODEL_CHARACTERS].strip())
    except (RunError, ConfigurationError) as error:
        return CheckResult(error=describe_error(error))


def describe_error(error: RunError | ConfigurationError) -> str:
    """Return the message of an error, with that of the provider if there is one."""
    # Its reader is the one whom the sentence for users calls the owner.
    sentence = error.public.replace("The copilot's owner", "You").replace(
        "the copilot's owner", "you"
    )
    text = _("%(sentence)s The provider answered: %(words)s")
    words = getattr(error, "detail", "")
    return text % {"sentence": sentence, "words": words} if words else sentence


def build_connect_data(preset: Preset, sent: QueryDict | None = None) -> dict[str, Any]:
    """Return the values of the provider's form for a vendor, with what was typed."""
    blank = ProviderForm()
    data: dict[str, Any] = {
        name: value
        for name, field in blank.fields.items()
        if (value := blank.get_initial_for_field(field, name)) not in (None, "", False)
    }
    data |= {"name": free_name(preset.name, Provider), "kind": preset.kind}
    data |= {"base_url": preset.base_url, **preset.values}
    if sent is not None:
        names = (*preset.fields, "name")
        typed = {name: str(sent[name]) for name in names if name in sent}
        data |= {name: value for name, value in typed.items() if value.strip()}
        if not typed.get("base_url", "-").strip():
            data["base_url"] = ""
    return data
