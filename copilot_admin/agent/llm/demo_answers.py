"""Prepared answers of the demo model, found by the words of a question.

An answer is text, a chart and a table of sample data, and its sources. It says that it is a demo.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
import re

from copilot_admin.agent.llm import demo_data as data
from copilot_admin.agent.llm.demo_data import SampleWidget
from protocol.json import JsonObject

LABEL = "*Demo answer from sample data. No language model was used.*"
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAnswer:
    """A prepared answer.

    Attributes:
        topics: Words of questions that it fits; a word in a question counts once.
        widgets: What it cites; the first one is drawn and listed.
        chart: Type of the chart, column of the x axis, and columns with numbers.
        has_table: Whether the rows are shown as a table.
        opening: Text before the chart and the table.
        closing: Text after them.
        follow_ups: Questions that may come next; each has a prepared answer.
    """

    topics: frozenset[str]
    opening: str
    closing: str = ""
    widgets: Sequence[SampleWidget] = ()
    chart: tuple[str, str, Sequence[str]] | None = None
    has_table: bool = False
    follow_ups: Sequence[str] = field(default=())

    @property
    def chart_arguments(self) -> JsonObject:
        """Arguments of the chart tool."""
        kind, x, y = self.chart or ("bar", "", ())
        return {**self.table_arguments, "type": kind, "x": x, "y": list(y)}

    @property
    def table_arguments(self) -> JsonObject:
        """Arguments of the table tool."""
        widget = self.widgets[0]
        rows = [dict(row) for row in widget.rows]
        return {"name": widget.name, "description": widget.description, "rows": rows}

    @property
    def markdown_table(self) -> str:
        """The rows as Markdown, for a copilot without the table tool."""
        columns = list(self.widgets[0].rows[0])
        lines = [columns, ["---"] * len(columns)]
        lines += [[str(row[column]) for column in columns] for row in self.widgets[0].rows]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def find_demo_answer(question: str, *, role: str) -> DemoAnswer | None:
    """Return the answer that fits a question: two of its topics, or one that the role shares."""
    words, role_words = _find_words(question), _find_words(role)

    def rate(answer: DemoAnswer) -> int:
        return 2 * len(words & answer.topics) + bool(role_words & answer.topics)

    best = max(DEMO_ANSWERS, key=rate)
    return best if rate(best) >= 3 else None


def suggest_questions(role: str) -> Sequence[str]:
    """Return questions that have a prepared answer and fit the role of a copilot."""
    words = _find_words(role)
    return max(DEMO_ANSWERS, key=lambda answer: len(words & answer.topics)).follow_ups


def _find_words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _topics(words: str) -> frozenset[str]:
    return frozenset(words.split())


DEMO_ANSWERS: Sequence[DemoAnswer] = (
    DemoAnswer(
        topics=_topics(
            "open overnight morning premarket today know brief briefs news note markets strategist "
            "releases matter"
        ),
        widgets=(data.OVERNIGHT, data.HOLDINGS),
        chart=("bar", "market", ("change %",)),
        opening="""**Risk appetite is firmer before the open; oil is the exception.**

- **Equities:** S&P 500 futures are up 0.4 % and the Nikkei gained 1.1 %. Europe lags at -0.2 %.
- **Rates:** the 10-year Treasury yield fell by 3 bp to 4.15 %.
- **Commodities:** Brent lost 1.8 % to 63.40 USD, gold gained 0.6 %.""",
        closing="""**For the portfolio:** Solway Energy (4.4 %) is the position most exposed to oil; \
Northwind Semiconductors (7.2 %) gains with technology. The data does not show who is driving the \
move in oil.""",
        follow_ups=("Where is the risk by factor?", "What changed since yesterday?"),
    ),
    DemoAnswer(
        topics=_topics("changed change changes yesterday since differences moved move"),
        widgets=(data.PRICES,),
        chart=("line", "date", ("close",)),
        opening="""**Northwind Semiconductors closed at 197.90 USD, up 1.4 % on the day.**

- The day's gain was 2.70 USD, the largest since 13 November.
- Since 2 November the share is up 8.5 %, with four down days out of twelve.""",
        closing="The data holds closing prices only, so it does not explain the move.",
        follow_ups=(
            "Draw the closing prices as a line chart",
            "What should I know before the open?",
        ),
    ),
    DemoAnswer(
        topics=_topics(
            "helped hurt contributors detractors attribution contribution contributions best worst bar "
            "performance commentary"
        ),
        widgets=(data.HOLDINGS,),
        chart=("bar", "position", ("contribution bp",)),
        has_table=True,
        opening="""**Northwind Semiconductors helped most (+61 bp), Solway Energy hurt most \
(-27 bp).**

1. Helped: Northwind Semiconductors +61 bp, Kestrel Software +25 bp, Alder Health +18 bp
2. Hurt: Solway Energy -27 bp, Tern Logistics -18 bp, Meridian Bank -12 bp""",
        closing="Contribution is weight times return for the month, in basis points.",
        follow_ups=("Draft this month's commentary", "Show the ten largest positions as a table"),
    ),
    DemoAnswer(
        topics=_topics(
            "largest positions holdings table top weights portfolio list key figures cards"
        ),
        widgets=(data.HOLDINGS,),
        has_table=True,
        opening="""**The ten largest positions make up 44.7 % of the portfolio.** Technology is the \
largest sector among them with 12.1 %.""",
        closing="""Northwind Semiconductors alone is 7.2 %. Seven of the ten rose this month.""",
        follow_ups=("Which positions helped most, and which hurt?", "Where is the risk by factor?"),
    ),
    DemoAnswer(
        topics=_topics("closing prices price line chart draw plot history"),
        widgets=(data.PRICES,),
        chart=("line", "date", ("close",)),
        opening="**Northwind Semiconductors rose from 182.40 to 197.90 USD in November, or 8.5 %.**",
        closing="The largest daily gain was 3.70 USD on 5 November, the largest loss 1.70 USD on \
12 November.",
        follow_ups=("What changed since yesterday?", "Show the ten largest positions as a table"),
    ),
    DemoAnswer(
        topics=_topics("commentary month monthly quarter quarterly draft performance"),
        widgets=(data.HOLDINGS, data.OVERNIGHT),
        chart=("bar", "position", ("contribution bp",)),
        opening="""### Portfolio commentary, November

**Performance.** The ten largest positions contributed 75 bp in November.

**What drove it.** Northwind Semiconductors added 61 bp after results above expectations, Kestrel \
Software another 25 bp. Solway Energy cost 27 bp as oil fell, Tern Logistics 18 bp.""",
        closing="""**Positioning.** Technology is 12.1 % of the portfolio, financials 8.6 %.

**Outlook.** [figure needed: house view on duration]

*Past performance is not a guide to future results.*""",
        follow_ups=(
            "Show the ten largest positions as a table",
            "Which positions helped most, and which hurt?",
        ),
    ),
    DemoAnswer(
        topics=_topics(
            "earnings call calls guidance results quarter eps beat transcript analyst management "
            "questions avoid consensus"
        ),
        widgets=(data.EARNINGS,),
        has_table=True,
        opening="""**Northwind Semiconductors beat on every line and guided above consensus.**

- Revenue 4,120 USD m, 3.4 % above consensus; EPS 2.31 USD, 7.4 % above
- Gross margin 58.4 %, half a point above expectations
- Q4 revenue guidance 4,300 USD m against 4,240 USD m""",
        closing="""**Tone of the Q&A:** supply is "no longer the constraint"; management did not \
quantify orders for 2027. **To follow up:** inventories at customers, capital spending.""",
        follow_ups=("How were results against guidance?", "Write a credit memo on leverage"),
    ),
    DemoAnswer(
        topics=_topics(
            "credit covenant covenants leverage memo debt ebitda lender rating risks headroom"
        ),
        widgets=(data.CREDIT,),
        chart=("line", "year", ("net debt / EBITDA",)),
        has_table=True,
        opening="""**Tern Logistics: leverage has peaked, headroom is thin.**

Net debt / EBITDA fell to 3.1x in 2025 from 3.3x in 2024. Interest cover recovered to 5.6x.""",
        closing="""**Covenant:** the limit of 3.5x leaves headroom of 11 % of EBITDA. **Recommendation \
(draft):** keep the exposure, no increase before free cash flow is above 100 EUR m.""",
        follow_ups=("Where is the risk by factor?", "Summarise the earnings call"),
    ),
    DemoAnswer(
        topics=_topics("letter client clients write email investor investors dear"),
        widgets=(data.HOLDINGS,),
        opening="""Dear client,

November was a good month for your portfolio. The ten largest positions contributed 0.75 \
percentage points, led by Northwind Semiconductors after strong results. Energy was weaker as the \
oil price fell.

We have not changed the allocation. If you would like to discuss it, please call us at any time.

Kind regards""",
        closing="*Check before sending: name, period, disclosures.*",
        follow_ups=("Draft this month's commentary", "What are the charges of the fund?"),
    ),
    DemoAnswer(
        topics=_topics(
            "risk risks var exposure exposures limit limits stress factor factors report change since "
            "yesterday breached"
        ),
        widgets=(data.RISK,),
        chart=("bar", "factor", ("share of risk %", "limit %")),
        has_table=True,
        opening="""**Currency risk is at its limit (12 %).** Equity market risk is the largest share \
with 46 %, below its limit of 60 %.""",
        closing="**To do:** hedge part of the currency exposure, or ask for a higher limit.",
        follow_ups=(
            "How did the yield curve move?",
            "Which positions helped most, and which hurt?",
        ),
    ),
    DemoAnswer(
        topics=_topics("curve yield yields rates treasury duration steepening bond bonds sleeve"),
        widgets=(data.CURVE,),
        chart=("line", "maturity", ("now", "a week ago")),
        opening="""**Yields rose across the curve, most at 10 years (+13 bp to 4.15 %).** The 2s10s \
spread widened by 4 bp to 54 bp, a mild steepening.""",
        closing="The data shows levels at two dates only; it does not show intraday moves.",
        follow_ups=("What should I know before the open?", "Where is the risk by factor?"),
    ),
    DemoAnswer(
        topics=_topics("fund funds fact sheet factsheet fee fees charges ter class"),
        widgets=(data.FUND,),
        has_table=True,
        opening="""**The fund is 0.6 points ahead of its benchmark over one year and 0.2 points behind \
over three years.** Ongoing charges are 0.95 % a year.""",
        closing="Volatility is lower than the benchmark's: 8.2 % against 8.9 %.",
        follow_ups=("What are the charges of the fund?", "Write a letter to clients"),
    ),
    DemoAnswer(
        topics=_topics(
            "esg screen screening exclusion carbon sustainable sustainability controversy holdings data "
            "breaches weight"
        ),
        widgets=(data.ESG,),
        chart=("bar", "position", ("carbon intensity, t per USD m",)),
        has_table=True,
        opening="""**One of four positions fails the screen: Solway Energy.** Granite Utilities is on \
the watch list because of its carbon intensity.""",
        closing="The screen uses the sample exclusion list; controversies are counted for 12 months.",
        follow_ups=("Which positions fail the ESG screen?", "Where is the risk by factor?"),
    ),
    DemoAnswer(
        topics=_topics(
            "document documents pdf file files page pages report summarise summarize prospectuses "
            "termination rights dates deadlines list"
        ),
        widgets=(data.EARNINGS,),
        opening="""**Attach a file to your question and a real model reads it, with page numbers.** \
This is how an answer looks:

- Revenue grew by 12 % to 4,120 USD m *(page 3)*
- The board proposes a dividend of 0.80 USD *(page 7)*
- Capital spending rises to 900 USD m in 2027 *(page 12)*""",
        closing="The notes on pensions (page 41) contain the largest change to last year.",
        follow_ups=("Summarise the earnings call", "Write a credit memo on leverage"),
    ),
    DemoAnswer(
        topics=_topics(
            "dashboard dashboards widget widgets layout tab tabs navigation arrange add build"
        ),
        widgets=(data.HOLDINGS,),
        opening="""**A dashboard for a portfolio review, in three tabs:**

1. *Overview*: key figures, performance chart, ten largest positions
2. *Risk*: risk by factor, limits, stress tests
3. *News*: overnight moves, calendar, earnings""",
        closing="With a real model and permission to edit the dashboard, the copilot adds them for you.",
        follow_ups=("Where is the risk by factor?", "Show the ten largest positions as a table"),
    ),
)
