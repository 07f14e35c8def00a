"""The component that calculates."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.components.calculator import Calculator
from protocol.components import create_output, llm_text, merge


def outputs(**inputs):
    return list(Calculator().tool_eval(**inputs))


def test_the_model_reads_the_result_and_the_user_the_models_answer():
    assert outputs(expression="200 USD + 10%") == [
        create_output("text", "220 USD", visible_scope="llm")
    ]


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("", "There is nothing to calculate"),
        ("1 / 0", "divides by zero"),
        ("x.y", "is not part of arithmetic"),
        ("9" * 2000, "longer than 1000 characters"),
    ],
)
def test_what_is_no_calculation_is_an_error_that_says_what_to_do(expression, sentence):
    with pytest.raises(ValueError, match=sentence):
        outputs(expression=expression)


@given(st.integers(-(10**30), 10**30), st.integers(-(10**15), 10**15))
def test_whole_numbers_come_out_as_python_has_them(one, other):
    result = merge(outputs(expression=f"({one}) + ({other})"))

    assert llm_text(result.content) == str(one + other)


@pytest.mark.parametrize(
    ("expression", "digits"),
    [
        ("1/3", "0.333333333333"),
        ("1000000000/7", "142857142.857142857143"),
        ("1/30000000", "0.0000000333333333333"),
        ("2^100 + 0.5", "1267650600228229401496703205376.5"),
        ("123456789.123456789 * 1", "123456789.123456789"),
    ],
)
def test_the_digits_are_those_that_the_documents_promise(expression, digits):
    """In full before the point, and twelve behind it from the first that is not zero."""
    (output,) = Calculator().tool_eval(expression)
    assert output.content[0].text.info == digits
