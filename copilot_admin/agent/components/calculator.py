"""Component that calculates exactly, since models can't."""

from collections.abc import Iterator
from typing import Any

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.toolkits.arithmetic import calculate
from protocol.components import ComponentOutput, ContentType


class Calculator(Component):
    """Works out a calculation exactly, with percent, currencies and finance."""

    name = "calculator"
    version = "v1"
    content_types = (ContentType.TEXT,)
    samples = (
        {"expression": "2 + 2"},
        {"expression": "200 + 10%"},
        {"expression": "round(pmt(5%/12, 360, 300000 USD), 2)"},
    )

    def tool_eval(self, expression: str, **kwargs: Any) -> Iterator[ComponentOutput]:
        """Works out one calculation exactly, with percent and currencies.

        Args:
            expression: Such as 1,250.5 * 3, 200 + 10% (is 220), 15% of 80, 3.5% + 25 bp,
                $1.5m / 30, 0.0025 in bp, or a function: sqrt, ln,
                log10, log2, exp, factorial, abs, round(x, decimals), floor, ceil, min, max, sum,
                avg, median, pmt(rate, periods, present), pv, fv, npv(rate, flows...),
                cagr(start, end, years), change(old, new). A space follows a comma between
                arguments. Remainder: 17 mod 5.
            **kwargs: What the system passes; nothing of it is used.
        """
        yield self.create_output("text", calculate(expression or ""), visible_scope="llm")
