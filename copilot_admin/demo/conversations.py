"""Script of the demo conversations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RATES = "demo-rates-desk"
EARNINGS = "demo-earnings-analyst"
COMMENTARY = "demo-portfolio-commentary"
CREDIT = "demo-credit-memo"
SLUGS = (RATES, EARNINGS, COMMENTARY, CREDIT)

USERS = (
    "Amara Diallo", "Ben Hartley", "Chiara Russo", "Daniel Weiss", "Elif Kaya", "Femi Adeyemi",
    "Grace Lin", "Hugo Laurent",
)  # fmt: skip

# Names of labels with their explanations.
LABELS: Mapping[str, str] = {
    "Wrong number": "A number differs from its source.",
    "No source": "A number has no source.",
    "Too long": "The answer could be half as long.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """End of a run without a whole answer: code in `errors.py`, and the sentence for the user."""

    code: str
    sentence: str


RATE_LIMIT = Failure(
    code="ProviderRateLimited",
    sentence="The provider's rate limit was reached. Try again in a minute.",
)
UNAVAILABLE = Failure(
    code="ProviderUnavailable",
    sentence='The provider is unavailable (503: "overloaded"). Try again.',
)
TOO_LONG = Failure(
    code="ContextTooLong", sentence="The question and its data are too long for the model."
)


@dataclass(frozen=True, slots=True)
class DemoConversation:
    """A conversation of the demo.

    Attributes:
        questions: Asked one after the other.
        vote: 1 or -1 for the last answer, with a reason and a comment.
        rating: Verdict of a reviewer, with labels.
        failure: Error that ended the last answer.
    """

    copilot: str
    questions: Sequence[str]
    vote: int = 0
    reason: str = ""
    comment: str = ""
    rating: str = ""
    labels: Sequence[str] = ()
    failure: Failure | None = None


# From the oldest to the newest.
DEMO_CONVERSATIONS: Sequence[DemoConversation] = (
    DemoConversation(RATES, ("How did the yield curve move this week?",), vote=1),
    DemoConversation(COMMENTARY, ("Draft the October commentary",), rating="good"),
    DemoConversation(
        EARNINGS, ("Summarise the earnings call of Northwind",), vote=1, rating="good"
    ),
    DemoConversation(RATES, ("Which rates moved most since yesterday?",)),
    DemoConversation(CREDIT, ("Write a credit memo on the leverage of Tern Logistics",), vote=1),
    DemoConversation(
        RATES, ("Where is the risk by factor?", "Are we close to a limit on currency risk?")
    ),
    DemoConversation(EARNINGS, ("Compare the results with guidance",), failure=RATE_LIMIT),
    DemoConversation(COMMENTARY, ("Which positions helped most, and which hurt?",), vote=1),
    DemoConversation(RATES, ("What moved in the Treasury market overnight?",), rating="good"),
    DemoConversation(
        EARNINGS,
        ("What did management say about margins on the earnings call?",),
        vote=-1,
        reason="Not factually correct",
        comment="Gross margin was 58.4 %, the answer rounds to 58 %.",
        rating="bad",
        labels=("Wrong number",),
    ),
    DemoConversation(COMMENTARY, ("Show the ten largest positions as a table",), vote=1),
    DemoConversation(CREDIT, ("Which covenants tighten if EBITDA falls by 10 %?",), rating="mixed"),
    DemoConversation(RATES, ("Draw the closing prices of the 10-year future as a line chart",)),
    DemoConversation(
        COMMENTARY, ("Write a letter to clients about November", "Draft it for the commentary")
    ),
    DemoConversation(
        RATES, ("How did the curve move, and what did our sleeve lose in rates?",), vote=1
    ),
    DemoConversation(
        EARNINGS, ("Summarise the earnings call of Kestrel Software",), vote=1, rating="good"
    ),
    DemoConversation(
        CREDIT,
        ("Compare leverage and credit ratios of three lenders",),
        failure=TOO_LONG,
        rating="mixed",
    ),
    DemoConversation(RATES, ("Where are the largest exposures by risk factor?",)),
    DemoConversation(
        COMMENTARY, ("Which positions contributed to attribution this month?",), vote=1
    ),
    DemoConversation(
        COMMENTARY,
        ("Draft the monthly commentary for the balanced fund",),
        vote=-1,
        reason="Too long",
        comment="Clients read half a page.",
        rating="mixed",
        labels=("Too long",),
    ),
    DemoConversation(
        EARNINGS, ("Which guidance changed on the call?", "And the results by quarter?")
    ),
    DemoConversation(
        RATES, ("What should I know before the open this morning?",), vote=1, rating="good"
    ),
    DemoConversation(CREDIT, ("What is the net debt to EBITDA, and the covenant?",), vote=1),
    DemoConversation(RATES, ("Show yields by maturity against last week's curve",)),
    DemoConversation(
        EARNINGS, ("Did EPS beat consensus? Summarise the results",), failure=UNAVAILABLE
    ),
    DemoConversation(COMMENTARY, ("Draft this month's commentary",), vote=1, rating="good"),
    DemoConversation(RATES, ("Is the steepening of the yield curve over?",)),
    DemoConversation(
        EARNINGS,
        ("Summarise the guidance of the earnings call in three bullets",),
        vote=-1,
        reason="Missing sources",
        comment="I need the page of each number.",
        labels=("No source",),
        rating="bad",
    ),
    DemoConversation(CREDIT, ("Update the credit memo with the new rating",)),
    DemoConversation(RATES, ("Where is the risk by factor?",), vote=1),
    DemoConversation(COMMENTARY, ("Which positions hurt, and what was the best contribution?",)),
    DemoConversation(
        RATES, ("What changed since yesterday in the portfolio?", "Where is the risk by factor?")
    ),
    DemoConversation(EARNINGS, ("Compare earnings call results with consensus",), vote=1),
    DemoConversation(
        COMMENTARY, ("Which holdings fail the ESG screen?",), vote=-1, reason="Incomplete"
    ),
    DemoConversation(RATES, ("How did the yield curve move today?",), vote=1),
    DemoConversation(CREDIT, ("What leverage would breach the covenant?",), vote=1),
    DemoConversation(EARNINGS, ("Summarise the earnings call of Alder Health",)),
    DemoConversation(RATES, ("Which risk limits are nearly reached?",), vote=1),
    DemoConversation(
        COMMENTARY, ("Draft this month's commentary",), vote=-1, reason="Not factually correct"
    ),
    DemoConversation(RATES, ("What should I know before the open?",)),
)
