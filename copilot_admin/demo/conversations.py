"""Conversations of the demo, read from `samples/demo_conversations.yaml`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter
import yaml

FILE = Path(__file__).resolve().parent.parent / "samples" / "demo_conversations.yaml"
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
# Codes of `errors.py` with the sentence for the user.
FAILURES: Mapping[str, str] = {
    "ProviderRateLimited": "The provider's rate limit was reached. Try again in a minute.",
    "ProviderUnavailable": 'The provider is unavailable (503: "overloaded"). Try again.',
    "ContextTooLong": "The question and its data are too long for the model.",
}


@dataclass(frozen=True, slots=True)
class DemoConversation:
    """A conversation of the demo.

    Attributes:
        copilot: Slug of the copilot.
        questions: Asked one after the other.
        vote: 1 or -1 for the last answer, with a reason and a comment.
        rating: Verdict of a reviewer, with labels.
        failure: Code of the error that ended the last answer, one of `FAILURES`.
    """

    copilot: str
    questions: Sequence[str]
    vote: int = 0
    reason: str = ""
    comment: str = ""
    rating: str = ""
    labels: Sequence[str] = ()
    failure: str = ""


def read_demo_conversations() -> list[DemoConversation]:
    """Return the conversations from the oldest to the newest."""
    rows = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return TypeAdapter(list[DemoConversation]).validate_python(rows)
