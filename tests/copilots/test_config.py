"""Every row of the table of draft fields keeps what the table promises; a new one from its day on."""

from dataclasses import fields
from typing import Any

import pytest

from copilot_admin.admin.copilots.rows import CustomFeatureRow
from copilot_admin.agent.values.spec import CopilotSpec, ProviderSpec, spec_from_document
from copilot_admin.copilots.comparison import find_changes
from copilot_admin.copilots.config import (
    CONFIG_FIELDS,
    VERSIONED_FIELDS,
    ConfigField,
    CopilotConfig,
)
from copilot_admin.copilots.publishing import apply_document, document_of
from copilot_admin.import_export.changes import Effect
from copilot_admin.import_export.exporting import copilot_entry
from copilot_admin.import_export.importing import import_values
from copilot_admin.import_export.schema import validate
from copilot_admin.models import Copilot, Provider
from protocol.features import FEATURES
from tests.factories import make_provider

SMALLEST: dict[str, Any] = {"slug": "news", "name": "News", "provider": "P", "model": "m"}
# What stands in a file for fields whose type alone does not say a value.
EXAMPLES: dict[str, Any] = {
    "slug": "papers",
    "image": "https://example.com/news.png",
    "provider": "Q",
    "models": [{"id": "a", "name": "A"}],
    "fallbacks": [{"model": "small", "provider": "Q"}],
    "parameters": {"temperature": 0.5},
    "custom_features": [{"key": "tone", "label": "Tone", "type": "toggle", "default": True}],
    "features": {feature.key: feature.key == "feedback" for feature in FEATURES},
    "tools": ["table"],
    "html_sources": ["https://charts.example.com"],
    "components": ["calculator@v1"],
    "steps": [{"at": "end", "type": "INFO", "message": "Done"}],
    "data": [{"kind": "house-rules", "data": ["Be brief."]}],
    "data_messages": {"merge": False},
    "client_call_limits": [{"function": "execute_agent_tool", "most": 6}],
    "starters": ["What moved?"],
    "limits": {"requests_per_minute": 60, "usd_per_month": 0.5},
    "tags": ["rates desk", "ÖPNV"],
    "redaction": ["account", "email"],
    "redacted_expressions": ["CUST-[0-9]{6}"],
}
SCHEMA = CopilotConfig.model_json_schema()
NOT_READ_BY_THE_ENGINE = {"image", "starters"}  # Workspace and people are shown them
every_field = pytest.mark.parametrize("field", CONFIG_FIELDS, ids=lambda field: field.key)
every_versioned_field = pytest.mark.parametrize(
    "field", VERSIONED_FIELDS, ids=lambda field: field.key
)


def example(field: ConfigField) -> Any:
    """A value that differs from the default, from the type alone where that is plain."""
    if field.key in EXAMPLES:
        return EXAMPLES[field.key]
    schema = SCHEMA["properties"][field.key]
    for kind in schema.get("anyOf", [schema]):
        match kind:
            case {"enum": choices}:
                return next(choice for choice in choices if choice != field.default)
            case {"type": "boolean"}:
                return not field.default
            case {"type": "integer"}:
                return kind.get("minimum", 0) + 1
            case {"type": "string"}:
                return "Another text"
    raise AssertionError(f"EXAMPLES has no value for the field {field.key}.")


def file_with(field: ConfigField) -> dict[str, Any]:
    return {"format": 1, "copilots": [{**SMALLEST, field.key: example(field)}]}


def document(**changes: Any) -> dict[str, Any]:
    [entry] = validate({"format": 1, "copilots": [{**SMALLEST, **changes}]}).copilots
    found: dict[str, Any] = entry.document()
    return found


def spec_of(found: dict[str, Any]) -> CopilotSpec:
    return spec_from_document("news", found, ProviderSpec(name="P", kind="demo"))


@pytest.mark.django_db
@every_field
def test_a_value_comes_back_from_draft_and_version_as_the_file_has_it(field: ConfigField) -> None:
    make_provider(name="P")
    make_provider(name="Q")
    [change] = import_values(file_with(field), default_access="key", publishing=True)
    copilot = Copilot.objects.select_related("provider", "live__provider").get()
    assert change.effect is Effect.CREATED
    assert copilot_entry(copilot)[field.key] == example(field)
    assert copilot_entry(copilot, live=True)[field.key] == example(field)
    [again] = import_values(file_with(field), default_access="key", publishing=True)
    assert (again.effect, again.published) == (Effect.UNCHANGED, None)
    other = Copilot(slug="other")
    assert copilot.live is not None
    apply_document(other, copilot.live.document, provider=copilot.live.provider)
    assert document_of(other) == copilot.live.document


@every_field
def test_a_file_takes_no_text_that_is_longer_than_the_column(field: ConfigField) -> None:
    """PostgreSQL refuses it, which nobody could tell with its place in the file."""
    most = getattr(Copilot._meta.get_field(field.column), "max_length", None)
    schema = SCHEMA["properties"][field.key]
    for kind in schema.get("anyOf", [schema]):
        if most is not None and field.column == field.attribute and kind.get("type") == "string":
            longest = (
                max(map(len, kind["enum"])) if "enum" in kind else kind.get("maxLength", most + 1)
            )
            assert longest <= most


@pytest.mark.django_db
@pytest.mark.parametrize(
    "field",
    [field for field in CONFIG_FIELDS if not field.is_required],
    ids=lambda field: field.key,
)
def test_a_key_that_is_absent_resets_a_draft_to_the_default(field: ConfigField) -> None:
    make_provider(name="P")
    blank = Copilot(slug="news", name="News", model="m", provider=make_provider(name="Q"))
    import_values(file_with(field), default_access="key")
    import_values({"format": 1, "copilots": [SMALLEST]}, default_access="key")
    assert field.value_of(Copilot.objects.get()) == field.value_of(blank)


@every_versioned_field
def test_the_document_of_a_version_has_the_key(field: ConfigField) -> None:
    blank = Copilot(name="News", model="m", provider=Provider(name="P", kind="demo"))
    assert document_of(blank)[field.key] == document()[field.key]


@every_versioned_field
def test_the_engine_reads_the_key_and_has_the_same_default(field: ConfigField) -> None:
    before, after = document(), document(**{field.key: example(field)})
    without = {key: value for key, value in before.items() if key != field.key}
    if not field.is_required:
        assert spec_of(without) == spec_of(before)
    is_read = spec_of(after) != spec_of(before)
    assert is_read is (field.key not in {"provider", *NOT_READ_BY_THE_ENGINE})  # it is handed over


@every_versioned_field
def test_a_change_is_told_in_words_before_publishing(field: ConfigField) -> None:
    before, after = document(), document(**{field.key: example(field)})
    [change] = find_changes(before, after)
    assert change.label == str(field.compared_as or field.label) != ""
    assert change.before != change.after
    assert "{" not in change.after


def test_the_spec_reads_no_key_that_no_row_has() -> None:
    keys = {"images" if one.name == "sees_images" else one.name for one in fields(CopilotSpec)}
    assert keys - {"slug"} == {field.key for field in VERSIONED_FIELDS} - NOT_READ_BY_THE_ENGINE


TOGGLE = {
    "key": "deep-research",
    "label": "Deep Research",
    "type": "toggle",
    "description": "Takes longer.",
    "default": True,
    "states": {"on": "Enabled", "off": "Disabled"},
    "model": "m-2",
    "provider": "Other",
}


def test_the_form_stores_nothing_that_the_type_does_not_have() -> None:
    given = {**CustomFeatureRow.initial_of(TOGGLE), "type": "text", "default": "x"}
    form = CustomFeatureRow({**given, "placeholder": "y"})
    assert form.is_valid()
    kept = {key: TOGGLE[key] for key in ("key", "label", "description")}
    assert form.row() == {**kept, "type": "text", "default": "x", "placeholder": "y"}
