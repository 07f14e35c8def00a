"""The component that calculates."""

import pytest

from copilot_admin.agent.components.calculator import Calculator
from protocol.components import create_output


def test_the_model_reads_the_result_and_the_user_the_models_answer():
    outputs = list(Calculator().tool_eval(expression="200 USD + 10%"))
    assert outputs == [create_output("text", "220 USD", visible_scope="llm")]


def test_what_is_no_calculation_is_an_error_that_says_what_to_do():
    with pytest.raises(ValueError, match="There is nothing to calculate"):
        list(Calculator().tool_eval(expression=""))
