"""Checks before publishing: what each reports, and what it accepts."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
import pytest

from copilot_admin.agent.values.spec import (
    CallLimit,
    CitationMode,
    ComponentUse,
    CopilotSpec,
    DataMessagePolicy,
    FixedStep,
    ProviderSpec,
    StepPlace,
    ToolCalling,
    WidgetDataMode,
)
from copilot_admin.copilots.checklist.checklist import facts_of, run_checks
from copilot_admin.copilots.checklist.findings import CheckedDraft, DraftFacts, Finding
from copilot_admin.copilots.providers import fetch_models
from copilot_admin.copilots.publishing import NotPublishable, publish
from copilot_admin.models import Access
from protocol.data import DataMessage
from protocol.features import CustomFeature, CustomFeatureType
from tests.factories import make_copilot, make_key, make_provider, make_user

THREE_QUERIES = 3  # two of keys, one of test runs
ASK, FETCH, OFF = WidgetDataMode.ASK, WidgetDataMode.FETCH, WidgetDataMode.OFF
SELECT, SEARCH = "widget-dashboard-select", "widget-dashboard-search"
OURS = ProviderSpec(name="Ours", kind="openai", base_url="http://llm:8000/v1")
OPENAI = replace(OURS, base_url="https://api.openai.com/v1")
LISTED = DraftFacts(models={"Ours": ("small-1", "small-2"), "Theirs": ("big-1",)})
TONE = CustomFeature(key="tone", label="Tone")
BIG_2 = replace(TONE, model="big-2", provider="Theirs")
TWO_MODELS = tuple(replace(TONE, key=key, model="small-1") for key in "ab")
CALCULATOR = ComponentUse(name="calculator", version="v1")
LONG_NOTE = DataMessage(kind="a", description="x" * 40_000)
USED = {"system_prompt": "{{ options.tone }}"}
SELECT_TONE = replace(TONE, type=CustomFeatureType.SELECT, default="a", options=(("A", "a"),))
READING = (FixedStep(at=StepPlace.READ, message="Reading"),)
LIMITS = (CallLimit(function="save_skill", most=5),)


def findings(
    *,
    facts: DraftFacts = DraftFacts(),  # noqa: B008  # frozen
    image: str = "",
    starters: tuple[str, ...] = (),
    **changes: Any,
) -> tuple[Finding, ...]:
    """Check a draft without problems, but for the changes."""
    spec: dict[str, Any] = {
        "slug": "news",
        "name": "News",
        "provider": OURS,
        "model": "small-1",
        "description": "Reads the news.",
        "system_prompt": "You are {{ copilot.name }}.",
        "widget_data": WidgetDataMode.OFF,
    }
    if keys := changes.get("features"):
        changes["features"] = frozenset(keys)
    return run_checks(
        CheckedDraft(
            spec=CopilotSpec(**{**spec, **changes}), image=image, starters=starters, facts=facts
        )
    )


def found(**changes: Any) -> list[tuple[str, str]]:
    return [(one.code, one.input) for one in findings(**changes)]


@pytest.mark.parametrize(
    ("changes", "code", "input"),
    [
        ({"system_prompt": "{{ nobody }}"}, "unknown_placeholder", "system_prompt"),
        ({"system_prompt": "Ends with {{"}, "unclosed_placeholder", "system_prompt"),
        ({"model": " "}, "missing_model", "model"),
        ({"parameters": {"temperature": 3}}, "parameter_out_of_range", "temperature"),
        ({"parameters": {"temperature": "1"}}, "parameter_out_of_range", "temperature"),
        ({"parameters": {"temperature": True}}, "parameter_out_of_range", "temperature"),
        ({"parameters": {"max_tokens": 0}}, "parameter_out_of_range", "max_tokens"),
        ({"parameters": {"max_completion_tokens": 1.5}}, "parameter_out_of_range", "more_parameters"),
        ({"tools": ("magic",)}, "unknown_tool", "tools"),
        ({"components": (ComponentUse(name="magic", version="v1"),)}, "unknown_tool", "components"),
    ],
)  # fmt: skip
def test_an_error_stops_publishing(changes, code, input):
    assert [(one.code, one.input, one.is_error) for one in findings(**changes)] == [
        (code, input, True)
    ]


@pytest.mark.parametrize(
    ("changes", "code", "input"),
    [
        ({"system_prompt": "It is {today}."}, "single_braces", "system_prompt"),
        ({"system_prompt": " \n"}, "empty_prompt", "system_prompt"),
        ({"system_prompt": "x" * 40_000, "model": "openai/gpt-4-0613"}, "prompt_too_long", "system_prompt"),
        ({"data": (LONG_NOTE,), "model": "gpt-4"}, "prompt_too_long", "system_prompt"),
        ({"facts": LISTED, "model": "smal-1"}, "unlisted_model", "model"),
        ({"facts": LISTED, "models": (("small-1", ""), ("small-3", ""))}, "unlisted_model", "model_choices"),
        ({"facts": LISTED, "custom_features": (BIG_2,)}, "unlisted_model", "custom_features"),
        ({"model": "text-embedding-3-small"}, "other_kind_of_model", "model"),
        ({"models": (("small-2", "Small"),)}, "picker_without_default", "model_choices"),
        ({"provider": OPENAI}, "missing_api_key", "provider"),
        ({"parameters": {"temperature": 1, "top_p": 1}}, "temperature_and_top_p", "top_p"),
        ({"model": "o3-mini", "parameters": {"temperature": 1}}, "unsupported_temperature", "temperature"),
        ({"features": {SEARCH}}, "unread_widgets", "widget_data"),
        ({"widget_data": ASK, "features": {"file-upload"}}, "missing_widget_feature", "features"),
        ({"widget_data": FETCH, "features": {SEARCH}}, "missing_widget_feature", "features"),
        ({"citations": CitationMode.DOCUMENTS}, "missing_documents", "citations"),
        ({"sees_images": True, "read_links": False}, "missing_documents", "sees_images"),
        ({"steps": (FixedStep(at=StepPlace.START, message="Hi"),), "show_steps": False}, "hidden_steps", "steps"),
        ({"steps": READING}, "hidden_steps", "steps"),
        ({"reasoning_steps": True, "show_steps": False}, "hidden_steps", "reasoning_steps"),
        ({"data_messages": DataMessagePolicy(options=True)}, "empty_data_messages", "data_messages"),
        ({"model": "o1-mini", "tools": ("table",)}, "unsupported_tools", "tools"),
        ({"model": "o1-mini", "components": (CALCULATOR,)}, "unsupported_tools", "components"),
        ({"model": "o1-mini", "widget_data": ASK, "features": {SEARCH}}, "unsupported_tools", "widget_data"),
        ({"model": "o1-mini", "features": {"mcp-tools"}}, "unsupported_tools", "features"),
        ({"html_sources": ("https://charts.example.com",)}, "unused_settings", "html_sources"),
        ({"stream_all_text": True}, "unused_settings", "stream_all_text"),
        ({"max_client_calls": 4, "client_call_limits": LIMITS}, "unused_settings", "client_call_limits"),
        ({"custom_features": (TONE,), "system_prompt": "{options.tones}"}, "unused_option", "custom_features"),
        ({"custom_features": (SELECT_TONE,), **USED}, "confusing_option", "custom_features"),
        ({"custom_features": TWO_MODELS}, "confusing_option", "custom_features"),
        ({"image": "copilots/a.png", "facts": DraftFacts(has_image=False)}, "missing_image", "image_url"),
        ({"image": "https://10.0.0.1/a.png", "facts": DraftFacts(has_image=False)}, "missing_image", "image_url"),
        ({"description": " "}, "description_length", "description"),
        ({"description": "x" * 251}, "description_length", "description"),
        ({"starters": ("What moved?", "Why?", "what  moved? ")}, "starter_questions", "starters"),
        ({"starters": ("x" * 121,)}, "starter_questions", "starters"),
        ({"facts": DraftFacts(enabled=False)}, "unreachable", "enabled"),
        ({"facts": DraftFacts(access=Access.KEY)}, "unreachable", "access"),
    ],
)  # fmt: skip
def test_a_warning_stops_nothing(changes, code, input):
    assert [(one.code, one.input, one.is_error) for one in findings(**changes)] == [
        (code, input, False)
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"system_prompt": '{{ today }}{{today}} {"a": {"today": 1}} {nobody} {}'},
        {"system_prompt": "x" * 40_000, "model": "gpt-4o"},
        {"system_prompt": "x" * 40_000, "model": "gpt-4x"},
        {"facts": DraftFacts(models={"Ours": (), "Theirs": ("big-1",)}), "model": "smal-1"},
        {"facts": LISTED, "custom_features": (replace(TONE, model="big-1", provider="Theirs"),)},
        {"provider": replace(OPENAI, api_key="sk-1")},
        {"provider": replace(OURS, base_url="https://api.openai.com.example/v1")},
        {"provider": replace(OURS, base_url="http://[")},
        {"parameters": {"temperature": 0, "max_tokens": 1, "frequency_penalty": -2}},
        {"parameters": {"temperature": None, "top_p": 1, "seed": -5, "stop": ["a"]}},
        {"model": "o30", "parameters": {"temperature": 1}},
        {"features": {"feedback"}},
        {"widget_data": ASK, "features": {SEARCH}, "citations": CitationMode.DOCUMENTS},
        {"widget_data": FETCH, "features": {SELECT, SEARCH}, "steps": READING},
        {"features": {"file-upload"}, "sees_images": True, "read_links": False},
        {"model": "o1-mini", "tools": ("table",), "provider": replace(OURS, tool_calling=ToolCalling.TEXT)},
        {"model": "o1-mini", "widget_data": FETCH, "features": {SELECT}},
        {"html_sources": ("https://charts.example.com",), "tools": ("html",)},
        {"max_client_calls": 5, "client_call_limits": LIMITS},
        {"custom_features": (TONE,), **USED},
        {"custom_features": (TONE,), "system_prompt": "{{ options.tone.state }}"},
        {"custom_features": (TONE,), "data_messages": DataMessagePolicy(options=True)},
        {"custom_features": (replace(SELECT_TONE, options=(("A", "a"), ("B", "b"))),), **USED},
        {"image": "copilots/a.png"},
        {"facts": DraftFacts(has_image=False)},
        {"facts": DraftFacts(access=Access.KEY, keys=1)},
    ],
)  # fmt: skip
def test_a_draft_without_problems(changes):
    assert found(**changes) == []


def test_a_missing_provider_stops_publishing():
    controls = (replace(TONE, model="small-1", provider="Gone"),)
    facts = DraftFacts(missing_providers=frozenset({"Gone"}))
    assert found(custom_features=controls, facts=facts) == [("missing_provider", "custom_features")]


def test_errors_come_first_and_then_the_order_of_the_form():
    kinds = [
        (one.is_error, one.input)
        for one in findings(model="", description="", starters=("a", "a"), tools=("magic",))
    ]
    assert kinds == [
        (True, "model"),
        (True, "tools"),
        (False, "description"),
        (False, "starters"),
    ]


@pytest.mark.database
@pytest.mark.django_db
class TestFacts:
    def test_valid_keys_are_counted(self):
        one, other = (make_copilot(access=Access.KEY) for _ in range(2))
        make_key("for all")
        make_key("for one", copilots=(one,))
        make_key("for both", copilots=(one, other))
        make_key("expired", expires_at=timezone.now() - timedelta(days=1))
        assert [facts.keys for facts in facts_of([one, other])] == [3, 2]

    def test_providers_models_and_image(self):
        provider = make_provider(name="Ours")
        make_provider(name="Theirs")
        fetch_models(provider)
        web = {"key": "web", "label": "Web", "type": "toggle", "model": "demo"}
        copilot = make_copilot(
            provider=provider,
            enabled=False,
            image_url="https://example.com/a.png",
            custom_features=[
                {**web, "provider": "theirs"},
                {**web, "key": "b", "provider": "Nobody's"},
            ],
        )
        assert facts_of([copilot]) == [
            DraftFacts(
                enabled=False,
                access=Access.OPEN,
                models={"Ours": ("demo",)},
                unasked=("theirs",),
                missing_providers=frozenset({"Nobody's"}),
                has_image=False,
            )
        ]

    def test_an_uploaded_image_is_looked_for_in_the_storage(self):
        name = default_storage.save("copilots/there.png", ContentFile(b"png"))
        drafts = [make_copilot(image=name), make_copilot(image="copilots/no.png"), make_copilot()]
        assert [one.has_image for one in facts_of(drafts)] == [True, False, True]

    @pytest.mark.parametrize("count", [1, 20])
    def test_many_drafts_cost_as_many_queries_as_one(self, count, django_assert_num_queries):
        provider = make_provider()
        drafts = [make_copilot(provider=provider, access=Access.KEY) for _ in range(count)]
        with django_assert_num_queries(THREE_QUERIES):
            facts_of(drafts)

    def test_a_command_publishes_what_an_earlier_release_published(self):
        copilot = make_copilot(system_prompt="{{ today", parameters={"temperature": 9})
        with pytest.raises(NotPublishable) as caught:
            publish(copilot, user=make_user())
        assert len(caught.value.problems) == 2
        assert publish(copilot, user=None) is not None
