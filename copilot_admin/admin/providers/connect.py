"""Connecting a provider in one step: test, fetch the models, save."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, replace
from decimal import Decimal
from time import monotonic
from typing import Any

from asgiref.sync import async_to_sync
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.admin.providers.form import ProviderForm
from copilot_admin.admin.providers.option_fields import changed_options
from copilot_admin.admin.providers.presets import PRESETS, Preset, list_presets
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
    """Outcome of a check.

    Attributes:
        model: The model that answered.
        first_token_ms: Milliseconds to its first text.
        models: The models that the provider lists.
        error: What failed, with the provider's own words; empty if nothing did.
        needs_model: Whether naming a model may help.
    """

    model: str = ""
    first_token_ms: int = 0
    models: tuple[str, ...] = ()
    error: str = ""
    needs_model: bool = False

    @property
    def seconds(self) -> str:
        return f"{self.first_token_ms / 1000:.1f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """A model as menus and tables show it; prices are dollars per million tokens."""

    id: str
    window: int | None
    has_tools: bool
    has_vision: bool
    input: Decimal | None = None
    output: Decimal | None = None

    @property
    def context(self) -> str:
        if self.window is None:
            return ""
        if self.window >= 1_000_000:
            return f"{self.window // 1_000_000}M"
        return f"{round(self.window / 1000)}k"

    @property
    def is_free(self) -> bool:
        return self.input == 0 and self.output == 0

    @property
    def price(self) -> str:
        if self.input is None or self.output is None:
            return ""
        return f"{_format_price(self.input)} / {_format_price(self.output)}"


def _format_price(amount: Decimal) -> str:
    cents = round(amount, 2)
    return f"${cents:.2f}" if cents == amount else f"${amount.normalize():f}"


def build_model_rows(provider: Provider, models: tuple[str, ...]) -> tuple[ModelRow, ...]:
    """Return the chat models of a provider with what is known about them."""
    rows = ModelPrice.objects.filter(provider=provider, valid_from__lte=timezone.now().date())
    prices = {row.model: row for row in rows.order_by("valid_from")}
    return tuple(
        ModelRow(
            id=model,
            window=window_of(model) or _listed_window(provider, model),
            has_tools=window_of(model) is not None and not takes_no_tools(model),
            has_vision=sees_images(model),
            input=price.input if (price := prices.get(model)) else None,
            output=price.output if price else None,
        )
        for model in models
        if not is_no_chat(model)
    )


def _listed_window(provider: Provider, model: str) -> int | None:
    entry = find_listed_model(provider, model)
    return entry.context_window if entry else None


def check_provider(spec: ProviderSpec, *, model: str = "") -> CheckResult:
    """Fetch the models of a provider and send one question to one of them.

    Args:
        spec: The provider.
        model: The model to test; empty: one that chats.
    """
    try:
        return async_to_sync(_check)(make_provider(spec), model)
    except (RunError, ConfigurationError) as error:
        return CheckResult(error=describe_error(error))


async def _check(provider: ModelProvider, model: str) -> CheckResult:
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
            ms = await _measure_first_token(provider, wanted)
            return CheckResult(model=wanted, first_token_ms=ms, models=models or (wanted,))
    except TimeoutError:
        text = _("No answer within %(seconds)d seconds. Check the URL and your network.")
        return CheckResult(models=models, error=text % {"seconds": TIMEOUT_SECONDS})
    except (RunError, ConfigurationError) as error:
        return CheckResult(models=models, error=describe_error(error), needs_model=bool(models))


async def _measure_first_token(provider: ModelProvider, model: str) -> int:
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
            match delta:
                case TextDelta() | ReasoningDelta() | ToolCall() | Finish():
                    break
    return round((monotonic() - started) * 1000)


def spec_of_form(form: ProviderForm) -> ProviderSpec:
    """Return the provider that a valid form describes; its instance must not be saved afterwards.

    A stored key, or one in a variable, goes only to the servers that it was saved with.

    Raises:
        ConfigurationError: The key can't be read.
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
    errors = [
        f"{form.fields[name].label}: {sentence}" if name in form.fields else str(sentence)
        for name, sentences in form.errors.items()
        for sentence in sentences
    ]
    if errors:
        return CheckResult(error=" ".join(errors))
    try:
        return check_provider(spec_of_form(form), model=model[:MAX_MODEL_CHARACTERS].strip())
    except ConfigurationError as error:
        return CheckResult(error=error.public)


def describe_error(error: RunError | ConfigurationError) -> str:
    """Return the message of an error, with that of the provider if there is one."""
    words = getattr(error, "detail", "")
    if not words:
        return error.public
    return _("%(sentence)s The provider answered: %(words)s") % {
        "sentence": error.public,
        "words": words,
    }


def find_preset(name: str) -> Preset:
    return list_presets().get(name, PRESETS[0])


def build_connect_data(preset: Preset, sent: QueryDict | None = None) -> dict[str, Any]:
    """Return the values of the provider's form for a vendor, with what was typed."""
    blank = ProviderForm()
    data: dict[str, Any] = {
        name: value
        for name, field in blank.fields.items()
        if (value := blank.get_initial_for_field(field, name)) not in (None, "", False)
    }
    data |= {
        "name": free_name(preset.name, Provider),
        "kind": preset.kind,
        "base_url": preset.base_url,
    }
    data |= preset.values
    if sent is not None:
        names = (*preset.fields, "name")
        typed = {name: str(sent[name]) for name in names if name in sent}
        data |= {name: value for name, value in typed.items() if value.strip()}
        if not typed.get("base_url", "-").strip():
            data["base_url"] = ""
    return data
