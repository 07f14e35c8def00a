"""Copilot files are checked: each error has its path and a code."""

from typing import Any

import pytest

from copilot_admin.agent.values.spec import CitationMode, StepPlace, WidgetDataMode
from copilot_admin.copilots.config_records import KIND_RULE, OPTION_KEY
from copilot_admin.copilots.config_types import PARAMETER_NAME
from copilot_admin.import_export.errors import BadCopilotFile
from copilot_admin.import_export.schema import CopilotEntry, validate
from copilot_admin.models import Access, Logging
from copilot_admin.models.copilots import SLUG
from protocol.events import StatusLevel
from protocol.features import FEATURE_KEYS, CustomFeatureType

SMALLEST: dict[str, Any] = {"slug": "a", "name": "A", "provider": "P", "model": "m"}
NOTE = {"kind": "user", "data": {"age": 30}, "schema": {"type": "object"}}


def errors_in(**file: Any) -> list[tuple[str, str]]:
    """Return path and code of each error of a file."""
    with pytest.raises(BadCopilotFile) as caught:
        validate({"format": 1, **file})
    return [(error.path, error.code) for error in caught.value.errors]


def errors_of_copilot(**changes: Any) -> list[tuple[str, str]]:
    """Return path and code of each error of a changed copilot; paths start inside of it."""
    found = errors_in(copilots=[{**SMALLEST, **changes}])
    return [(path.removeprefix("copilots[0]."), code) for path, code in found]


def test_all_errors_are_reported():
    assert errors_in(format=2, providers=[{"kind": "x"}], copilots=[{"slug": "A"}]) == [
        ("format", "less_than_equal"),
        ("providers[0].name", "missing"),
        ("providers[0].kind", "unknown_kind"),
        ("copilots[0].slug", "string_pattern_mismatch"),
        ("copilots[0].name", "missing"),
        ("copilots[0].provider", "missing"),
        ("copilots[0].model", "missing"),
    ]


CHOICE = {"label": "A", "value": "a"}


@pytest.mark.parametrize(
    ("changes", "path", "code"),
    [
        ({"api_key": "sk"}, "api_key", "extra_forbidden"),
        ({"name": ""}, "name", "string_too_short"),
        ({"name": " "}, "name", "string_pattern_mismatch"),
        ({"name": "a\u202eb"}, "name", "bidi"),
        ({"description": "x" * 10_001}, "description", "string_too_long"),
        ({"enabled": "yes"}, "enabled", "bool_type"),
        ({"starters": "x"}, "starters", "list_type"),
        ({"parameters": []}, "parameters", "dict_type"),
        ({"parameters": {"stream": False}}, "parameters.stream", "reserved"),
        ({"parameters": {"max-tokens": 3}}, "parameters.max-tokens", "string_pattern_mismatch"),
        ({"widget_data": "fech"}, "widget_data", "literal_error"),
        ({"image": "ftp://x/y.png"}, "image", "image"),
        ({"tools": ["magic"]}, "tools[0]", "unknown_tool"),
        ({"tools": ["table", "table"]}, "tools", "repeated"),
        ({"models": [{"id": "a"}, {"id": "a"}]}, "models", "repeated"),
        ({"features": {"telepathy": True}}, "features.telepathy", "extra_forbidden"),
        ({"features": {"streaming": False}}, "features.streaming", "literal_error"),
        ({"steps": [{"at": "end", "message": "x", "type": "E"}]}, "steps[0].type", "literal_error"),
        ({"retention_days": 0.5}, "retention_days", "int_type"),
        ({"redacted_expressions": ["x*"]}, "redacted_expressions[0]", "invalid"),
        ({"html_sources": ["https://a.example"] * 2}, "html_sources", "repeated"),
        ({"tags": ["a", "A"]}, "tags", "repeated"),
        ({"components": ["abacus@v1"]}, "components[0]", "unknown_component"),
        ({"components": ["calculator@v9"]}, "components[0]", "unknown_component"),
        ({"components": ["calculator", "calculator@v1"]}, "components", "repeated"),
        ({"components": [3]}, "components[0]", "model_type"),
        (
            {"client_call_limits": [{"function": "telepathy", "most": 1}]},
            "client_call_limits[0].function",
            "unknown_function",
        ),
        (
            {"client_call_limits": [{"function": "save_skill", "most": 1}] * 2},
            "client_call_limits",
            "repeated",
        ),
        ({"data": [NOTE, {**NOTE, "kind": "a b"}]}, "data[1].kind", "string_pattern_mismatch"),
        ({"data": [{"schema": {"type": 5}}]}, "data[0].schema", "schema"),
        ({"data": [{"schema": {"$ref": "http://10.0.0.1/x"}}]}, "data[0].schema", "schema"),
        ({"data_messages": {"widgets": "yes"}}, "data_messages.widgets", "bool_type"),
        *(
            ({"html_sources": [source]}, "html_sources[0]", "html_source")
            for source in (
                *("", "*", "http://a.example", "https://a.example/", "https://*.example"),
                *("https://a@b.example", "https://a.example:0"),
            )
        ),
        *(
            ({"custom_features": [{"key": "k", "label": "K", **row}]}, "custom_features[0]", code)
            for row, code in (
                ({"key": "feedback"}, "reserved"),
                ({"default": "x"}, "default_type"),
                ({"options": [CHOICE]}, "other_type"),
                ({"type": "text", "states": {}}, "other_type"),
                ({"provider": "P"}, "model_missing"),
                ({"type": "select"}, "options_missing"),
                ({"type": "select", "default": "b", "options": [CHOICE]}, "default_unknown"),
                ({"type": "select", "default": "a", "options": [CHOICE] * 2}, "repeated"),
            )
        ),
    ],
)
def test_an_error_of_a_copilot_has_path_and_code(changes, path, code):
    assert errors_of_copilot(**changes) == [(path, code)]


@pytest.mark.parametrize(
    ("changes", "path", "code"),
    [
        ({"api_key": "sk"}, "api_key", "extra_forbidden"),
        ({"api_key_env": "SECRET_KEY"}, "api_key_env", "key_variable"),
        ({"api_key_env": "not a name"}, "api_key_env", "string_pattern_mismatch"),
        ({"base_url": "nowhere"}, "base_url", "url"),
        ({"options": {"proxy": "nowhere"}}, "options.proxy", "url"),
        ({"timeout_s": {"conect": 1}}, "timeout_s.conect", "extra_forbidden"),
        ({"timeout_s": {"total": 0}}, "timeout_s.total", "greater_than"),
    ],
)
def test_an_error_of_a_provider_has_path_and_code(changes, path, code):
    provider = {"name": "P", "kind": "demo", **changes}
    assert errors_in(providers=[provider]) == [(f"providers[0].{path}", code)]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"slug": "My Slug"}, str(SLUG.message)),
        ({"parameters": {"max-tokens": 3}}, str(PARAMETER_NAME.message)),
        ({"data": [{"kind": "a b"}]}, str(KIND_RULE.message)),
        ({"data": [{"instance": "a\nb"}]}, "Use a single line."),
        ({"custom_features": [{"key": "K k", "label": "K"}]}, str(OPTION_KEY.message)),
        ({"name": " "}, "is empty. Enter some text."),
        ({"name": 5}, "use text. Put a number, true, false and an empty text in quotes."),
        ({"starters": ["x" * 501]}, "has more than 500 characters. Shorten it."),
        ({"enabled": "yes"}, "use true or false, without quotes."),
        ({"starters": "x"}, "use a list, such as “[first, second]”."),
        ({"parameters": []}, "use keys with values, such as “slug: news”."),
        ({"widget_data": "fech"}, "use one of: 'fetch', 'ask', 'off'."),
        ({"features": {"streaming": False}}, "use one of: true."),
        ({"retention_days": "9"}, "use a whole number without quotes, such as 30."),
        ({"retention_days": 0}, "use 1 or more."),
        ({"retention_days": 36_501}, "use 36500 or less."),
        ({"limits": {"usd_per_day": 0}}, "use a number above 0."),
        ({"limits": {"usd_per_day": "9"}}, "use a number without quotes, such as 0.5."),
        ({"tags": [str(number) for number in range(21)]}, "has more than 20 entries. Remove some."),
    ],
)
def test_an_error_says_what_the_key_takes_as_the_form_does(changes, sentence):
    with pytest.raises(BadCopilotFile) as caught:
        validate({"format": 1, "copilots": [{**SMALLEST, **changes}]})
    assert [error.sentence for error in caught.value.errors] == [sentence]


@pytest.mark.parametrize(
    "file",
    [
        {"copilots": [SMALLEST, {**SMALLEST, "name": "B"}]},
        {"copilots": [SMALLEST, {**SMALLEST, "slug": "b", "name": "a"}]},
        {"providers": [{"name": name, "kind": "demo"} for name in "Pp"]},
    ],
)
def test_names_and_slugs_are_unique_in_a_file(file):
    assert errors_in(**file) == [(next(iter(file)), "repeated")]


def test_the_choices_of_the_file_are_those_of_the_engine_and_the_models():
    fields = CopilotEntry.model_json_schema()
    properties, parts = fields["properties"], fields["$defs"]

    assert set(properties["widget_data"]["enum"]) == set(WidgetDataMode)
    assert set(properties["citations"]["enum"]) == {*CitationMode, "documents"}
    assert set(properties["logging"]["enum"]) == set(Logging.values)
    assert set(properties["access"]["anyOf"][0]["enum"]) == set(Access.values)
    assert set(parts["StepEntry"]["properties"]["at"]["enum"]) == set(StepPlace)
    assert set(parts["StepEntry"]["properties"]["type"]["enum"]) == set(StatusLevel)
    assert set(parts["CustomFeatureEntry"]["properties"]["type"]["enum"]) == set(CustomFeatureType)
    assert set(parts["FeaturesEntry"]["properties"]) == {
        "streaming",
        *FEATURE_KEYS,
    }


@pytest.mark.parametrize(
    ("written", "row"),
    [
        ("calculator@v1", {"name": "calculator", "version": "v1"}),
        ("calculator", {"name": "calculator", "version": "latest"}),
        ({"name": "calculator", "version": "1"}, {"name": "calculator", "version": "1"}),
        (
            {"name": "calculator", "version": "v1", "config": {"places": 2}},
            {"name": "calculator", "version": "v1", "config": {"places": 2}},
        ),
    ],
)
def test_a_component_is_named_in_short_or_at_length(written, row):
    values = {"format": 1, "copilots": [{**SMALLEST, "components": [written]}]}
    assert validate(values).copilots[0].document()["components"] == [row]
