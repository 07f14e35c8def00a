"""Fills a database with conversations through the transcript store of the product."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
import random
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection, transaction

from copilot_admin.agent.values.answer_request import FileRead
from copilot_admin.agent.values.model_call import Finish, Usage
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import (
    Conversation,
    CopilotVersion,
    Criterion,
    Logging,
    Outcome,
    Rating,
    ReviewState,
)
from copilot_admin.transcripts.feedback import JudgedAnswer, SubmittedFeedback, store_feedback
from copilot_admin.transcripts.matching.requests import RunStart, prepare
from copilot_admin.transcripts.store.end_rows import finish
from copilot_admin.transcripts.store.recorder import Ending, Recorder, RunEnd
from copilot_admin.transcripts.store.run_start import accept
from copilot_admin.transcripts.verdicts import save_verdict, set_review_state
from protocol.events import FunctionCall, MessageChunk, StatusUpdate
from protocol.models import AiMessage, Generation, HumanMessage, Message, Query

COMMON, MIDDLE, RARE = "market", "dividend", "zyxwvutu"
END = datetime(2026, 11, 20, tzinfo=UTC)
DAYS = 90
TURNS = 4  # of a conversation
BATCH = 25  # conversations of one transaction
MODELS = tuple(f"model-{number}" for number in range(40))
ERRORS = ("provider-timeout", "rate-limited", "no-model")
REASONS = ("Inaccurate", "Too long", "Did not follow", "Slow")
USERS = 500  # of whom each third conversation is
_SYLLABLES = ("ba", "re", "ti", "mo", "la", "su", "ne", "ko", "di", "fa", "ru", "ze", "pi", "go")


@dataclass(frozen=True, slots=True)
class Filler:
    """Makes conversations of some copilots, the same each time.

    Attributes:
        versions: One list for each copilot, in order; the first copilots are asked most.
    """

    versions: Sequence[Sequence[CopilotVersion]]
    principals: Sequence[str]
    chance: random.Random
    words: Sequence[str]
    weights: Sequence[float]
    reviewer: User
    label: Criterion

    def fill(self, conversations: int, *, say: Callable[[str], None]) -> None:
        """Add conversations, the oldest first."""
        for start in range(0, conversations, BATCH):
            with transaction.atomic():
                for number in range(start, min(start + BATCH, conversations)):
                    self._conversation(number, conversations)
            if start % 5000 < BATCH:
                analyze()
                say(f"{start} of {conversations} conversations")

    def add_long_conversation(self, turns: int) -> None:
        """Add one long conversation, the newest."""
        with transaction.atomic():
            self._conversation(1, 1, turns=turns)

    def _conversation(self, number: int, of: int, *, turns: int = TURNS) -> None:
        at = END - timedelta(days=DAYS * (of - number) / of)
        version = self._version(number / (of + 1))
        principal = self.chance.choice(self.principals)
        trace_id = f"trace-{number}" if number % 2 else None
        said: list[Message] = []
        for turn in range(turns):
            question = self._text(12)
            if number % 97 == 0 and turn == turns - 1:
                said = said[:-2]  # a branch
            said.append(HumanMessage(question))
            answer = self._answer(number * TURNS + turn)
            start = self._start(version, principal, trace_id, said, at, user=_user(number))
            stored = accept(prepare(start))
            finish(self._end(start.run_id, at, number, turn, answer))
            said.append(AiMessage(answer))
            at += timedelta(seconds=40)
        if number % 25 == 1:
            self._judge(version, principal, trace_id or "", answer, user=_user(number))
        if number % 200 == 9:
            self._review(stored.conversation_id)

    def _start(
        self,
        version: CopilotVersion,
        principal: str,
        trace_id: str | None,
        said: Sequence[Message],
        at: datetime,
        *,
        user: AskingUser | None,
    ) -> RunStart:
        widgets = [{"id": f"w{one}", "name": f"Widget {one}", "params": []} for one in range(10)]
        env = {"widgets": {"primary": widgets}, "timezone": "UTC", "copilot": version.copilot_id}
        return RunStart(
            run_id=UUID(int=self.chance.getrandbits(128), version=4),
            copilot_id=version.copilot_id,
            version_id=version.pk,
            logging=Logging.EVERYTHING,
            principal=principal,
            trace_id=trace_id,
            query=Query(messages=tuple(said), generation=Generation.THREE, env=env),
            size=4000,
            provider=f"Provider {version.copilot_id % 5}",
            model=self._model(version),
            params={"temperature": 0.2},
            started_at=at,
            user=user,
        )

    def _end(self, run_id: UUID, at: datetime, number: int, turn: int, answer: str) -> RunEnd:
        recorder = Recorder(keep_content=True, generation=Generation.THREE)
        recorder.add(StatusUpdate(message="Reading the widget"), at_ms=50)
        if number % 100 == 3:
            file = FileRead(
                name="report.pdf", kind="pdf", size=9000, pages=3, pixels=None, note="", fault=""
            )
            recorder.add(file, at_ms=60)
        recorder.add(MessageChunk(answer), at_ms=400)
        if number % 30 == 4 and turn == TURNS - 1:
            call = {"data_sources": [{"widget_uuid": "w1", "id": "price", "input_args": {}}]}
            recorder.add(
                FunctionCall(function="get_widget_data", input_arguments=call, extra_state={}),
                at_ms=500,
            )
        recorder.add(Usage(input_tokens=self.chance.randrange(9000), output_tokens=400), at_ms=900)
        recorder.add(Finish("stop"), at_ms=900)
        failed = number % 50 == 7 and turn == TURNS - 1
        return recorder.finish(
            Ending(
                outcome=Outcome.FAILED if failed else Outcome.COMPLETED,
                ms=2000,
                ttft_ms=self.chance.randrange(200, 4000),
                error="The model could not answer." if failed else "",
                error_code=ERRORS[number % 3] if failed else "",
            ),
            run_id=run_id,
            at=at,
        )

    def _judge(
        self,
        version: CopilotVersion,
        principal: str,
        trace_id: str,
        answer: str,
        *,
        user: AskingUser | None,
    ) -> None:
        judgement = SubmittedFeedback(
            vote=self.chance.choice(("thumbs_down", "thumbs_up")),
            tags=[self.chance.choice(REASONS)],
            ai_response=answer,
            trace_id=trace_id,
        )
        judged = JudgedAnswer(
            copilot_id=version.copilot_id,
            principal=principal,
            logging=Logging.EVERYTHING,
            trace_id=trace_id,
            user_id=user.id if user else None,
        )
        store_feedback(judgement, judged=judged)

    def _review(self, conversation_id: int) -> None:
        rating = self.chance.choice((Rating.GOOD, Rating.BAD))
        conversation = Conversation.objects.get(pk=conversation_id)
        save_verdict(conversation, self.reviewer, rating=rating, marks={self.label.pk: 1})
        set_review_state(conversation_id, ReviewState.DONE)

    def _version(self, share: float) -> CopilotVersion:
        """Draw a copilot and return its version at a share of the time."""
        asked = [1 / (one + 1) ** 1.2 for one in range(len(self.versions))]
        versions = self.chance.choices(self.versions, asked)[0]
        return versions[int(share * len(versions))]

    def _model(self, version: CopilotVersion) -> str:
        """Return the model of a version; only the least asked copilot has the last one."""
        is_rare = len(self.versions) > 1 and version in self.versions[-1]
        return MODELS[-1] if is_rare else MODELS[version.pk % (len(MODELS) - 1)]

    def _text(self, length: int) -> str:
        return " ".join(self.chance.choices(self.words, cum_weights=self.weights, k=length))

    def _answer(self, number: int) -> str:
        """Return about 900 characters, sometimes with a word that is searched for."""
        found = [self._text(130)]
        if number % 2:
            found.append(COMMON)
        if number % 100 == 17:
            found.append(MIDDLE)
        if number % 10_000 == 77:
            found.append(RARE)
        return " ".join(found)


def make_filler(versions: Sequence[CopilotVersion], principals: Sequence[str]) -> Filler:
    """Return a filler whose words are as unevenly frequent as those of a language."""
    chance = random.Random(5)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 5))) for _ in range(20_000)]
    weights, total = [], 0.0
    for rank in range(len(words)):
        total += 1 / (rank + 1)
        weights.append(total)
    reviewer, _ = User.objects.get_or_create(username="reviewer")
    label, _ = Criterion.objects.get_or_create(name="Wrong source")
    ordered = sorted(versions, key=lambda version: (version.copilot_id, version.number))
    grouped = [list(some) for _, some in groupby(ordered, key=lambda one: one.copilot_id)]
    return Filler(grouped, principals, chance, words, weights, reviewer, label)


def _user(number: int) -> AskingUser | None:
    """Return the user of a conversation; two in three are anonymous."""
    one = number // 3 % USERS
    return None if number % 3 else AskingUser(id=f"user-{one}", name=f"Person {one}")


def analyze() -> None:
    """Update the statistics of the query planner, as autovacuum does in production."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
