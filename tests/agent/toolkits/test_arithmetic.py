"""Calculations as analysts write them, and everything that is none."""

import doctest
import importlib

from hypothesis import example, given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.toolkits.arithmetic import MAX_DEPTH, MAX_DIGITS, MAX_LENGTH, calculate
from copilot_admin.agent.toolkits.arithmetic_functions import FUNCTIONS


@pytest.mark.parametrize("module", ["arithmetic", "quantity"])
def test_the_examples_of_the_docstrings_are_true(module):
    outcome = doctest.testmod(importlib.import_module(f"copilot_admin.agent.toolkits.{module}"))

    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2 + 2", "4"),
        ("=2+2=", "4"),
        ("0.1 + 0.2", "0.3"),
        (".5 + 1e2", "100.5"),
        ("2 - 3 - 4", "-5"),
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"),
        ("8 / 4 / 2", "1"),
        ("6 ÷ 2 × 3 − 1", "8"),  # the signs of print
        ("2 ^ 3 ^ 2", "512"),
        ("2 ** 10", "1024"),
        ("2 ^ -1", "0.5"),
        ("-2 ^ 2", "-4"),
        ("--5", "5"),
        ("+5", "5"),
        ("-0", "0"),
        ("1 / 3", "0.333333333333"),
        ("2 ^ 100", "1267650600228229401496703205376"),
        ("10 ^ 50", "1E+50"),
        ("1e-15", "0.000000000000001"),
        ("1e-16", "1E-16"),
        ("1e9999", "1E+9999"),
        ("17 mod 5", "2"),
        ("17 % 5", "2"),
        ("17%5", "2"),
        ("17%(2 + 3)", "2"),
        ("-17 mod 5", "3"),
        ("17 mod -5", "-3"),
        ("15 mod 5", "0"),
        ("7.5 USD mod 2 USD", "1.5 USD"),
        ("2 * pi", "6.28318530718"),
        ("ln(e)", "1"),
    ],
)
def test_numbers(expression, result):
    assert calculate(expression) == result


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1,234,567.89 + 1", "1234568.89"),
        ("1_000 + 1'000 + 1\u00a0000 + 1\u202f000", "4000"),
        ("1.5m", "1500000"),
        ("2bn / 1k", "2000000"),
        ("3 million + 2K", "3002000"),
        ("2B - 1 bn", "1000000000"),
        ("(1 + 1) trillion", "2000000000000"),
        ("sum(1_000,2)", "1002"),
        ("max(1,20)", "20"),
        ("max(1, 200)", "200"),
        ("cagr(100,200,5)", "14.869835499704%"),
        ("round(pmt(0.05/12,360,300000),2)", "-1610.46"),
    ],
)
def test_large_numbers_are_written_in_groups_and_with_scales(expression, result):
    assert calculate(expression) == result


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("10%", "10%"),
        ("-5 percent", "-5%"),
        ("5‰", "5‰"),
        ("200 + 10%", "220"),
        ("200 - 10%", "180"),
        ("200 + (10%)", "220"),
        ("100 + 10% + 10%", "121"),
        ("50 USD + 10%", "55 USD"),
        ("200 + 10% of 50", "205"),
        ("15% of 80", "12"),
        ("15% of 80 USD", "12 USD"),
        ("10% of 5%", "0.5%"),
        ("50% * 20", "10"),
        ("20 * 50%", "10"),
        ("50% * 20%", "10%"),
        ("10% / 5%", "2"),
        ("5% / 2", "0.025"),
        ("17 %", "17%"),
        ("10% in bp", "1000 bp"),
        ("25 bp", "25 bp"),
        ("3.5% + 25 bps", "3.75%"),
        ("100 * 25bp", "0.25"),
        ("0.05 in %", "5%"),
        ("25 bp to %", "0.25%"),
        ("0.0025 as bp", "25 bp"),
        ("(1 + 5%) ^ 2", "1.1025"),
        ("10% ^ 2", "0.01"),
        ("17 % -5%", "12%"),
    ],
)
def test_percentages_are_meant_as_analysts_mean_them(expression, result):
    assert calculate(expression) == result


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("3 USD * 4", "12 USD"),
        ("4 * 3 USD", "12 USD"),
        ("$5", "5 USD"),
        ("USD 5", "5 USD"),
        ("-$5", "-5 USD"),
        ("$ 1.5m / 30", "50000 USD"),
        ("$2 bn + 1m USD", "2001000000 USD"),
        ("5€ + 5 EUR", "10 EUR"),
        ("5 EUR - 7 EUR", "-2 EUR"),
        ("(2 + 3) £", "5 GBP"),
        ("12 USD / 3 USD", "4"),
        ("12 USD / 3", "4 USD"),
        ("min(5 USD, 3 USD)", "3 USD"),
    ],
)
def test_amounts_keep_their_currency(expression, result):
    assert calculate(expression) == result


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("sqrt(2) ^ 2", "2"),
        ("sqrt(0)", "0"),
        ("SQRT(9)", "3"),
        ("ln(10)", "2.302585092994"),
        ("log10(1000)", "3"),
        ("log2(8)", "3"),
        ("exp(0)", "1"),
        ("factorial(0)", "1"),
        ("factorial(20)", "2432902008176640000"),
        ("factorial(1000)", "4.02387260077E+2567"),
        ("abs(-5 USD)", "5 USD"),
        ("abs(5)", "5"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(2.345, 2)", "2.35"),
        ("round(1234, -2)", "1200"),
        ("round(12.345%, 1)", "12.3%"),
        ("floor(-1.5)", "-2"),
        ("ceil(1.2 USD)", "2 USD"),
        ("min(3)", "3"),
        ("min(3, 1, 2)", "1"),
        ("max(3, 1, 2)", "3"),
        ("sum(1, 2, 3)", "6"),
        ("sum(5%, 25 bp)", "5.25%"),
        ("avg(10%, 20%)", "15%"),
        ("mean(1, 2)", "1.5"),
        ("median(3, 1, 2)", "2"),
        ("median(4, 1, 2, 3)", "2.5"),
        # What spreadsheets give for the same formulas.
        ("round(pmt(5%/12, 360, 300000 USD), 2)", "-1610.46 USD"),
        ("pmt(0, 10, 100)", "-10"),
        ("round(pmt(5%, 10, 100, -50), 4)", "-8.9752"),
        ("round(pv(5%, 10, -100), 4)", "772.1735"),
        ("round(pv(5%, 10, -100, -1000), 4)", "1386.0867"),
        ("round(fv(5%, 10, -100), 4)", "1257.7893"),
        ("round(fv(5%, 10, -100, -1000), 4)", "2886.6839"),
        ("round(npv(10%, 100 USD, 200 USD, 300 USD), 2)", "481.59 USD"),
        ("cagr(100, 121, 2)", "10%"),
        ("change(80 USD, 100 USD)", "25%"),
        ("change(-100, -50)", "50%"),
    ],
)
def test_functions(expression, result):
    assert calculate(expression) == result


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("", "There is nothing to calculate"),
        ("  = ", "There is nothing to calculate"),
        ("1" + "+1" * (MAX_LENGTH // 2), f"longer than {MAX_LENGTH} characters"),
        ("1 / 0", "divides by zero, which has no result"),
        ("0 / 0", "divides by zero, which has no result"),
        ("1 mod 0", "divides by zero, which has no remainder"),
        ("0 ^ 0", "Zero can only be raised to a power above zero"),
        ("0 ^ -1", "Zero can only be raised"),
        ("(-8) ^ (1/3)", "no real number"),
        ("1e60 mod 7", "needs too many digits"),
        ("9 ^ 9 ^ 9 ^ 9", r"beyond 10\^9999"),
        ("exp(-99999)", "nearer to zero than"),
        ("10 ^ 9999 * 10", r"beyond 10\^9999"),
        ("1e10000", "exponent beyond 9999"),
        ("1e" + "9" * 500, "exponent beyond 9999"),
        ("9" * (MAX_DIGITS + 1), f"more than {MAX_DIGITS} digits"),
        ("(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1), "nested deeper"),
        ("-" * (MAX_DEPTH + 1) + "1", "nested deeper"),
        ("^".join(["1"] * (MAX_DEPTH + 1)), "nested deeper"),
        ("__import__('os')", "'_' is not part of arithmetic"),
        ("lambda x: x", "':' is not part"),
        ("a.b", "'.' is not part"),
        ("[1]", r"'\[' is not part"),
        ("1; 2", "';' is not part"),
        ("1 < 2", "'<' is not part"),
        ("٣ + ٣", "'٣' is not part"),
        ("x + 1", "'x' is not known"),
        ("5 foo", "'foo' is not a currency or percentage"),
        ("5 km + 300 m", "'km' is not a currency or percentage"),
        ("exec(1)", "no function 'exec'. Known: sqrt, ln"),
        ("2 (3)", r"After '2' an operator such as \+ or \* was expected, not '\('"),
        ("2 3", "After '2' an operator .* was expected, not '3'"),
        ("1 000", "was expected, not '000'"),
        ("2 +", r"After '2 \+' a number was expected, not the end"),
        (")", r"At the beginning a number was expected, not '\)'"),
        ("(2", r"After '\( 2' '\)' was expected, not the end"),
        ("max(1 2)", "',' was expected, not '2'"),
        ("max((1,5))", r"'\)' was expected, not ','"),
        ("10% - 2", "only one of them is a percentage"),
        ("max(1,", "a number was expected, not the end"),
        ("of 5", "a number was expected, not 'of'"),
        ("2 * in", "a number was expected, not 'in'"),
        ("$x", r"After '\$' an amount was expected, not 'x'"),
        ("1,5", "'1,5' is not a number here"),
        ("1,2345", "'1,2345' is not a number here"),
        ("1'23", "is not a number here"),
        ("1,234'567", "is not a number here"),
        ("1.234,56", "was expected, not ','"),
        ("max(1,200)", "1,200 could be one number or several"),
        ("cagr(1,000, 2,000, 5)", "1,000 could be one number or several"),
        ("cagr(1,000,2,000,5)", r"cagr is written cagr\(start, end, years\)"),
        ("round(avg(1,200),1)", "1,200 could be one number or several"),
        ("max((1,200))", "1,200 could be one number or several"),
        ("15% 80", "Write 15% of 80 for a share, or 15 mod 80"),
        ("3 of 80", "'of' follows a percentage"),
        ("5 + 3 of 80", "'of' follows a percentage"),
        ("5%%", "5% cannot have % as well"),
        ("5% USD", "Write 15% of 80 for a share"),
        ("5 USD bp", "After '5 USD' an operator"),
        ("(5 USD) %", "5 USD cannot have % as well"),
        ("(5%) USD", "5% cannot have USD as well"),
        ("$5 USD", "5 USD cannot have USD as well"),
        ("5 USD + 2", "only one of them has a currency"),
        ("2 USD * 3 USD", "2 USD and 3 USD cannot be multiplied"),
        ("2 / 3 USD", "only one of them has a currency"),
        ("2 ^ (3 USD)", "An exponent has to be a number without a currency, not 3 USD"),
        ("(2 USD) ^ 2", "A base has to be a number"),
        ("max(1 USD, 2)", "only one of them has a currency"),
        ("pv(5% , 10 USD, 1)", "The number of periods has to be a number without a currency"),
        ("3 USD + 4 EUR", r"no rate is known here"),
        ("3 USD in EUR", "Use % or bp after 'in'"),
        ("10% + 5", "only one of them is a percentage"),
        ("5 in 3", "Use % or bp after 'in'"),
        ("0.05 in % in bp", "was expected, not 'in'"),
        (
            "5 USD in %",
            "What becomes a percentage has to be a number without a currency, not 5 USD",
        ),
        ("sqrt(-1)", "square root of a negative number"),
        ("sqrt()", r"sqrt is written sqrt\(x\)"),
        ("sqrt(1, 2)", r"sqrt is written sqrt\(x\)"),
        ("ln(0)", "ln takes a number above zero, not 0"),
        ("log10(-1)", "log10 takes a number above zero"),
        ("log(5)", "write ln, log10 or log2"),
        ("factorial(-1)", "whole number from 0 to 1000"),
        ("factorial(1.5)", "whole number from 0 to 1000"),
        ("factorial(1001)", "whole number from 0 to 1000"),
        ("factorial(1e9999)", "whole number from 0 to 1000"),
        ("round(1, 0.5)", "number of decimals is a whole number up to 30"),
        ("round(1, 31)", "number of decimals is a whole number up to 30"),
        ("avg(10%, 2)", "only one of them is a percentage"),
        ("pmt(-100%, 10, 1)", "rate has to be above -100%"),
        ("fv(5%, 0, 1)", "number of periods above zero"),
        ("npv(-1, 5)", "rate has to be above -100%"),
        ("npv(5%)", r"npv is written npv\(rate, first, second, ...\)"),
        ("cagr(0, 1, 1)", "all above zero"),
        ("cagr(1, -1, 1)", "all above zero"),
        ("cagr(1, 1, 0)", "all above zero"),
        ("change(0, 1)", "A change from zero has no percentage"),
    ],
)
def test_what_cannot_be_worked_out_is_refused_in_words(expression, sentence):
    with pytest.raises(ValueError, match=sentence):
        calculate(expression)


def test_every_function_can_be_called():
    for function in FUNCTIONS.values():
        arguments = ", ".join(["2"] * function.min_arguments)
        if function.name != "log":
            assert calculate(f"{function.name}({arguments})")


NUMBERS = st.decimals(-(10**12), 10**12, allow_nan=False, places=6).map(lambda one: f"({one:f})")
OPERATORS = st.sampled_from(["+", "-", "*"])
SUMS = st.recursive(
    NUMBERS,
    lambda inner: st.builds("({} {} {})".format, inner, OPERATORS, inner),
    max_leaves=5,
)


@given(SUMS)
def test_a_result_is_an_expression_with_the_same_result(expression):
    result = calculate(expression)

    assert calculate(result) == result


@given(SUMS, SUMS)
def test_addition_commutes_and_subtraction_undoes_it(one, other):
    assert calculate(f"{one} + {other}") == calculate(f"{other} + {one}")
    assert calculate(f"{one} + {other} - {other}") == calculate(one)


@given(NUMBERS, st.sampled_from(["USD", "bp", "%"]))
def test_a_result_with_a_unit_can_be_read_again(number, unit):
    result = calculate(f"{number} {unit}")

    assert calculate(result) == result


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
