"""What an answer of the playground took: who gave it, times, tokens, and its cost if that is known."""

from dataclasses import dataclass

from copilot_admin.admin.transcripts.page import AttemptFacts
from copilot_admin.models import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFigures:
    """Over all requests of an answer; what the simulation or a person took is no part of it.

    Attributes:
        version: Number of the version that answered; None: a draft.
        ttft_ms: From its last request to the first token; None: there came none.
        ms: None: it is not over.
        is_counted: Whether anybody counted the tokens.
        is_free: Whether it is known to cost nothing.
    """

    model: str
    version: int | None
    requests: int
    ttft_ms: int | None
    ms: int | None
    input_tokens: int
    output_tokens: int
    is_counted: bool
    is_free: bool


def figures_of(answer: AttemptFacts) -> AnswerFigures:
    """The figures of an answer; reads the database."""
    runs = [leg.run for leg in answer.legs]
    last = answer.last
    return AnswerFigures(
        model=last.model,
        version=last.version,
        requests=len(runs),
        ttft_ms=last.ttft_ms,
        ms=None if last.ms is None else sum(run.ms or 0 for run in runs),
        input_tokens=sum(run.usage.input_tokens for run in runs),
        output_tokens=sum(run.usage.output_tokens for run in runs),
        is_counted=any(run.usage.source for run in runs),
        # The only kind whose price is known: no model of anybody's is asked.
        is_free=Provider.objects.filter(name=last.provider, kind="rehearsal").exists(),
    )
