"""A prompt and a description may be long, not endless."""

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter, ValidationError
import pytest

from copilot_admin.copilots.fields.text_checks import (
    LONGEST_DESCRIPTION,
    LONGEST_PROMPT,
    description_length_fault,
    prompt_length_fault,
)
from copilot_admin.copilots.fields.values import Description, Prompt

TEXTS = pytest.mark.parametrize(
    ("most", "fault_of", "in_file", "sentence"),
    [
        (
            LONGEST_PROMPT,
            prompt_length_fault,
            Prompt,
            "has 1,000,001 characters; 1,000,000 are the most. Shorten it.",
        ),
        (
            LONGEST_DESCRIPTION,
            description_length_fault,
            Description,
            "has 10,001 characters; 10,000 are the most. Shorten it.",
        ),
    ],
    ids=["prompt", "description"],
)


@TEXTS
def test_the_longest_text_is_right_and_one_more_is_said_in_form_and_file(
    most: int, fault_of: Callable[[str], str], in_file: Any, sentence: str
) -> None:
    assert fault_of("é" * most) == ""
    assert fault_of("é" * (most + 1)) == sentence
    assert TypeAdapter(in_file).validate_python("é" * most) == "é" * most
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(in_file).validate_python("é" * (most + 1))
    assert refused.value.errors()[0]["msg"] == sentence
