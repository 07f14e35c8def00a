"""A prompt may be long, not endless."""

from pydantic import TypeAdapter, ValidationError
import pytest

from copilot_admin.copilots.fields.lengths import LONGEST_PROMPT, prompt_length_fault
from copilot_admin.copilots.fields.values import Prompt

SENTENCE = "has 1,000,001 characters; 1,000,000 are the most. Shorten it."


def test_the_longest_prompt_is_right_and_one_more_is_said() -> None:
    assert prompt_length_fault("é" * LONGEST_PROMPT) == ""
    assert prompt_length_fault("é" * (LONGEST_PROMPT + 1)) == SENTENCE


def test_a_file_has_the_same_limit() -> None:
    assert TypeAdapter(Prompt).validate_python("Short") == "Short"
    with pytest.raises(ValidationError, match="1,000,001 characters"):
        TypeAdapter(Prompt).validate_python("x" * (LONGEST_PROMPT + 1))
