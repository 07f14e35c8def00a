"""What is found where switches contradict each other, or where nothing uses them."""

from dataclasses import replace

import pytest

from copilot_admin.agent.values.spec import (
    CitationMode,
    ComponentUse,
    DataMessagePolicy,
    FixedStep,
    StepPlace,
    ToolCalling,
    WidgetDataMode,
)
from copilot_admin.copilots.checklist.subject import DraftFacts
from protocol.features import CustomFeature, CustomFeatureType
from tests.copilots.checklist.subjects import OURS, found

ASK, FETCH, OFF = WidgetDataMode.ASK, WidgetDataMode.FETCH, WidgetDataMode.OFF
SELECT = "widget-dashboard-select"
SEARCH = "widget-dashboard-search"


def features(*keys: str) -> frozenset[str]:
    return frozenset(keys)


@pytest.mark.parametrize("key", [SELECT, SEARCH, "widget-global-search"])
def test_widgets_that_are_chosen_and_never_read_are_told(key):
    sentence = (
        "Users can choose widgets, but the copilot never reads them. "
        "Let it read widgets, or turn the widget features off."
    )
    assert found(widget_data=OFF, features=features(key)) == [("warning", "widget_data", sentence)]


@pytest.mark.parametrize("mode", [ASK, FETCH])
def test_widgets_that_are_read_and_never_offered_are_told(mode):
    sentence = (
        "The copilot reads widgets, but no widget feature is on. "
        "Turn one on, or set reading widgets to “Never”."
    )
    assert found(widget_data=mode, features=features("file-upload")) == [
        ("warning", "features", sentence)
    ]


def test_selected_widgets_that_nobody_can_select_are_told():
    sentence = (
        "Selected widgets are read before answering, but users can't "
        "select any. Turn “Selected widgets” on, or let the model "
        "ask."
    )
    assert found(widget_data=FETCH, features=features(SEARCH)) == [
        ("warning", "features", sentence)
    ]


@pytest.mark.parametrize(
    ("mode", "on"),
    [
        (OFF, ()),
        (OFF, ("feedback",)),
        (ASK, (SEARCH,)),
        (FETCH, (SELECT,)),
        (FETCH, (SELECT, SEARCH)),
    ],
)
def test_mode_and_features_that_go_together_are_right(mode, on):
    assert found(widget_data=mode, features=features(*on)) == []


def test_citations_of_documents_that_never_come_are_told():
    sentence = (
        "Document passages are cited, but the copilot gets no "
        "documents. Turn “Files” on, or let it read widgets."
    )
    assert found(citations=CitationMode.DOCUMENTS) == [("warning", "citations", sentence)]


@pytest.mark.parametrize(
    ("mode", "on"), [(OFF, ("file-upload",)), (FETCH, (SELECT,)), (ASK, (SEARCH,))]
)
def test_documents_and_pictures_come_from_files_and_widgets(mode, on):
    cited = CitationMode.DOCUMENTS
    assert (
        found(
            citations=cited,
            sees_images=True,
            read_links=False,
            widget_data=mode,
            features=features(*on),
        )
        == []
    )


def test_pictures_that_never_come_are_told():
    sentence = "The model can see images, but the copilot gets none. Turn “Files” on."
    assert found(sees_images=True, read_links=False) == [("warning", "sees_images", sentence)]
    assert found(sees_images=True, read_links=True) == []


def test_steps_that_nobody_sees_are_told():
    steps = (FixedStep(at=StepPlace.START, message="Hello"),)
    sentence = "Fixed steps are set, but steps are not shown."
    assert found(steps=steps, show_steps=False) == [("warning", "steps", sentence)]
    assert found(steps=steps) == []


@pytest.mark.parametrize("place", [StepPlace.FETCH, StepPlace.READ])
def test_steps_of_data_that_is_never_read_are_told(place):
    steps = (FixedStep(at=place, message="Reading"),)
    sentence = "Some fixed steps are shown while data is read, but the copilot reads none."
    assert found(steps=steps) == [("warning", "steps", sentence)]
    assert found(steps=steps, widget_data=FETCH, features=features(SELECT)) == []


def test_reasoning_that_nobody_sees_is_told():
    sentence = "Reasoning is shown as a step, but steps are not shown."
    assert found(reasoning_steps=True, show_steps=False) == [
        ("warning", "reasoning_steps", sentence)
    ]
    assert found(reasoning_steps=True) == []


def test_data_messages_of_nothing_are_told():
    policy = DataMessagePolicy(results=True, options=True)
    assert found(data_messages=policy) == [
        (
            "warning",
            "data_messages",
            "Widget data is sent as context data, but the copilot reads no widgets.",
        ),
        (
            "warning",
            "data_messages",
            "Chat options are sent as context data, but there is no control.",
        ),
    ]
    tone = CustomFeature(key="tone", label="Tone", type=CustomFeatureType.TEXT, default="")
    assert (
        found(
            data_messages=policy,
            custom_features=(tone,),
            widget_data=ASK,
            features=features(SEARCH),
        )
        == []
    )


def test_a_control_that_nothing_uses_is_told():
    sentence = (
        "Nothing uses the control “Tone”. Add {{ options.tone }} to "
        "the prompt, or remove the control."
    )
    tone = CustomFeature(key="tone", label="Tone")
    assert found(custom_features=(tone,), system_prompt="{{ copilot.name }} {options.tones}") == [
        ("warning", "custom_features", sentence)
    ]


@pytest.mark.parametrize(
    ("changes", "control"),
    [
        ({"system_prompt": "{{options.tone}}"}, {}),
        ({"system_prompt": "{{ options.tone.state }}"}, {}),
        ({"data_messages": DataMessagePolicy(options=True)}, {}),
        ({}, {"model": "small-2"}),
    ],
)
def test_a_control_that_is_used_in_any_way_is_right(changes, control):
    tone = CustomFeature(key="tone", label="Tone", **control)
    assert found(custom_features=(tone,), **changes) == []


def test_a_choice_of_one_is_told():
    one = CustomFeature(
        key="tone",
        label="Tone",
        type=CustomFeatureType.SELECT,
        default="a",
        options=(("A", "a"),),
    )
    prompt = "{{ options.tone }}"
    sentence = "The control “Tone” has only one option. Add another."
    assert found(custom_features=(one,), system_prompt=prompt) == [
        ("warning", "custom_features", sentence)
    ]
    two = replace(one, options=(("A", "a"), ("B", "b")))
    assert found(custom_features=(two,), system_prompt=prompt) == []


def test_controls_of_one_label_are_told():
    one, other = (CustomFeature(key=key, label="Tone", model="small-1") for key in "ab")
    sentence = "2 controls are named “Tone”. Rename them."
    assert found(custom_features=(one, other)) == [("warning", "custom_features", sentence)]


def test_keys_that_are_taken_and_providers_that_are_gone_stop_publishing():
    rows = (
        CustomFeature(key="feedback", label="A", model="small-1"),
        CustomFeature(key="b", label="B", model="small-1", provider="Gone"),
        CustomFeature(key="b", label="C", model="small-1", provider="Gone"),
    )
    facts = DraftFacts(missing_providers=frozenset({"Gone"}))
    assert set(found(custom_features=rows, facts=facts)) == {
        (
            "error",
            "custom_features",
            "There is no provider named 'Gone'. Choose another.",
        ),
        ("error", "custom_features", "The key 'feedback' is already used. Choose another."),
        ("error", "custom_features", "The key 'b' is already used. Choose another."),
    }


@pytest.mark.parametrize(
    ("changes", "input"),
    [
        ({"tools": ("table",)}, "tools"),
        ({"components": (ComponentUse(name="calculator", version="v1"),)}, "components"),
        ({"widget_data": ASK, "features": features(SEARCH)}, "widget_data"),
        ({"features": features("mcp-tools")}, "features"),
        ({"features": features("generative-ui")}, "features"),
        ({"features": features("agent-orchestration")}, "features"),
    ],
)
def test_tools_for_a_model_that_calls_none_are_told(changes, input):
    sentence = (
        "The model “o1-mini” doesn't support tool calls. Choose "
        "another model, or a provider with text tool calls."
    )
    assert found(model="o1-mini", **changes) == [("warning", input, sentence)]
    in_text = replace(OURS, tool_calling=ToolCalling.TEXT)
    assert found(model="o1-mini", provider=in_text, **changes) == []
    assert found(model="small-1", **changes) == []


def test_a_model_without_tools_is_right_where_none_are_called():
    assert found(model="o1-mini", widget_data=FETCH, features=features(SELECT)) == []


def test_tools_and_components_of_another_release_stop_publishing():
    gone = ComponentUse(name="magic", version="v1")
    assert found(tools=("magic",), components=(gone,)) == [
        ("error", "tools", "There is no tool named 'magic'. Turn it off."),
        ("error", "components", "There is no component 'magic@v1'. Turn it off."),
    ]


def test_addresses_of_images_without_html_are_told():
    sentence = "Image sources for HTML are set, but no tool creates HTML."
    sources = ("https://charts.example.com",)
    assert found(html_sources=sources) == [("warning", "html_sources", sentence)]
    assert found(html_sources=sources, tools=("html",)) == []
    assert found(html_sources=sources, features=features("generative-ui")) == []


def test_results_of_no_component_are_told():
    sentence = "Results of built-in tools are shown, but no built-in tool is on."
    assert found(stream_all_text=True) == [("warning", "stream_all_text", sentence)]


def test_the_gravest_come_first_and_then_the_order_of_the_form():
    kinds = [(kind, input) for kind, input, _ in found(
        model="", description="", starters=("a", "a"), tools=("magic",), system_prompt="")]  # fmt: skip
    assert kinds == [
        ("error", "model"),
        ("error", "tools"),
        ("warning", "description"),
        ("warning", "system_prompt"),
        ("warning", "starters"),
    ]
