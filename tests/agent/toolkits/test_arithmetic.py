"""Calculations as analysts write them, and everything that is none."""

import re

from hypothesis import example, given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.toolkits.arithmetic import MAX_LENGTH, calculate

CALCULATIONS = """
=2+2= → 4 | .5 + 1e2 → 100.5 | 2 - 3 - 4 → -5 | 6 ÷ 2 × 3 − 1 → 8 | 2 ^ 3 ** 2 → 512
2 ^ -1 → 0.5 | -2 ^ 2 → -4 | --5 + +5 → 10 | 17 mod 5 → 2 | -17 mod 5 → 3
2 * pi → 6.28318530718 | ln(e) → 1 | 1/3 → 0.333333333333
1000000000/7 → 142857142.857142857143 | 1/30000000 → 0.0000000333333333333
2^100 + 0.5 → 1267650600228229401496703205376.5 | 10 ^ 50 → 1E+50
1,234,567.89 + 1 → 1234568.89 | 2bn / 1k → 2000000 | 3 million + 2K → 3002000
(1 + 1) trillion → 2000000000000 | max(1, 20) → 20 | round(pmt(0.05/12,360,300000),2) → -1610.46
200 - 10% → 180 | 50 USD + 10% → 55 USD | 200 + 10% of 50 → 205 | 15% of 80 USD → 12 USD
10% of 5% → 0.5% | 10% / 5% → 2 | 17 % -5% → 12% | 25 bp to % → 0.25% | 10% in bp → 1000 bp
-$5 → -5 USD | USD 5 → 5 USD | $2 bn + 1m USD → 2001000000 USD | 5€ + 5 EUR → 10 EUR
(2 + 3) £ → 5 GBP | 12 USD / 3 USD → 4 | 12 USD / 3 → 4 USD | ln(10) → 2.302585092994
log10(1000) + log2(8) → 6 | factorial(20) → 2432902008176640000 | abs(-5 USD) → 5 USD
round(-2.5) → -3 | round(12.345%, 1) → 12.3% | ceil(1.2 USD) → 2 USD | sum(5%, 25 bp) → 5.25%
avg(10%, 20%) → 15% | median(4, 1, 2, 3) → 2.5 | round(pmt(5%, 10, 100, -50), 4) → -8.9752
round(pv(5%, 10, -100, -1000), 4) → 1386.0867 | round(fv(5%, 10, -100, -1000), 4) → 2886.6839
round(npv(10%, 100 USD, 200 USD, 300 USD), 2) → 481.59 USD | cagr(100, 121, 2) → 10%
"""


@pytest.mark.parametrize("row", re.split(r" \| |\n", CALCULATIONS.strip()))
def test_calculations_are_meant_as_analysts_mean_them(row):
    expression, _, result = row.partition(" → ")
    assert calculate(expression) == result


INCOMPLETE = (
    *("2 3", "2 +", ")", "()", "(2", "max(1 2)", "1,5", "2(3)", "5 // 2", "5 * * 2", "max(*5)"),
    *("max(**5)", "(" * 300 + "1" + ")" * 300),
)


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("  = ", "There is nothing to calculate"),
        ("1" + "+1" * (MAX_LENGTH // 2), f"longer than {MAX_LENGTH} characters"),
        ("1 / 0", "divides by zero, which has no result"),
        ("(-8) ^ (1/3)", "no real number"),
        ("9 ^ 9 ^ 9 ^ 9", r"beyond 10\^9999"),
        ("1 < 2", "'<' is not part"),
        ("x + 1", "'x' is not known"),
        ("5 km + 300 m", "'km' is not a currency or percentage"),
        ("exec(1)", "no function 'exec'. Known: sqrt, ln"),
        *((one, "not a complete calculation") for one in INCOMPLETE),
        ("max(1,200)", "1,200 could be one number or several"),
        ("cagr(1,000, 2,000, 5)", "1,000 could be one number or several"),
        ("3 of 80", "'of' follows a percentage"),
        ("10% - 2", "only one of them is a percentage"),
        ("(5 USD) %", "5 USD cannot have % as well"),
        ("2 USD * 3 USD", "2 USD and 3 USD cannot be multiplied"),
        ("3 USD + 4 EUR", "no rate is known here"),
        ("sqrt(1, 2)", r"Its arguments are sqrt\(x\)"),
        ("factorial(1001)", "whole number from 0 to 1000"),
        ("round(1, 31)", "number of decimals is a whole number up to 30"),
        ("cagr(-1, 1, 2)", "no real number"),
        ("change(0, 1)", "divides by zero"),
    ],
)
def test_what_cannot_be_worked_out_is_refused_in_words(expression, sentence):
    with pytest.raises(ValueError, match=sentence):
        calculate(expression)


@given(st.text(max_size=60) | st.text("0123456789.,%()^*/+- kmUSDe$€'_", max_size=60))
@example("1e999999999")
@example("%" * 60)
@example("$$$")
@example("1^")
@example("-$")
def test_whatever_is_sent_gives_a_result_or_a_sentence(expression):
    try:
        result = calculate(expression)
    except ValueError as error:
        assert str(error).endswith((".", ")"))
    else:
        assert result
