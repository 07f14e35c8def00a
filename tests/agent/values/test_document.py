"""A version's document is read as the types of the spec say."""

from dataclasses import fields
from enum import StrEnum
from typing import Any

import pytest

from copilot_admin.agent.values.document import spec_from_document
from copilot_admin.agent.values.spec import CopilotSpec, FixedStep, ProviderSpec, StepPlace
from copilot_admin.errors import ConfigurationError
from protocol.features import CustomFeature

PROVIDER = ProviderSpec(name="P", kind="demo")
BLANK = CopilotSpec(slug="news", name="news", provider=PROVIDER, model="")
KEYS = {
    field.name: "images" if field.name == "sees_images" else field.name
    for field in fields(CopilotSpec)
    if field.name not in ("slug", "name", "provider")
}
CHOICES = tuple(field.name for field in fields(CopilotSpec) if isinstance(field.default, StrEnum))


def spec(**document: Any) -> CopilotSpec:
    return spec_from_document("news", document, PROVIDER)


def test_an_empty_document_is_a_copilot_with_every_default() -> None:
    assert spec() == BLANK


@pytest.mark.parametrize("name", [name for name in KEYS if name not in CHOICES])
@pytest.mark.parametrize("value", [None, 0.5])
def test_a_value_of_another_type_is_as_good_as_absent(name: str, value: object) -> None:
    assert spec(**{KEYS[name]: value}) == BLANK


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", [None, "sometimes"])
def test_a_choice_that_there_is_not_is_refused(name: str, value: object) -> None:
    with pytest.raises(ConfigurationError) as refused:
        spec(**{name: value})
    assert "Copilot 'news' cannot be read by this release: " in refused.value.public
    assert refused.value.public.endswith("Publish it again.")
    assert "Mode" not in refused.value.public  # no name of a class


def test_a_truth_value_is_no_number() -> None:
    assert spec(max_data_tokens=True).max_data_tokens is None


def test_rows_that_are_no_records_are_left_out() -> None:
    assert spec(steps=["x", {"message": "Hi"}]).steps == (
        FixedStep(at=StepPlace.START, message="Hi"),
    )


def test_a_control_without_a_label_is_called_by_its_key() -> None:
    assert spec(custom_features=[{"key": "tone", "default": 5}]).custom_features == (
        CustomFeature(key="tone", label="tone"),
    )
