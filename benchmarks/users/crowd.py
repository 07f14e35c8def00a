"""All users ask at the same time, each in his way; what each question came to is noted."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import count
import time

from benchmarks.canaries import canaries_in
from benchmarks.client import Chat, Heard, Line, ask, call
from benchmarks.processes import Process
from benchmarks.script import Script
from benchmarks.servers import Target
from benchmarks.users.people import A_DAY, A_MINUTE, AT_ONCE, TOKENS_A_DAY, Habit, Person

SHORT, LONG = Script(chunks=4, every_ms=15), Script(chunks=2000, every_ms=500)
PROMPT_TOKENS = 50  # that the upstream counts; of the answer it counts the chunks
READING_SECONDS = 3.0
TOGETHER = 10  # that ask of one limit at the same time
RUSH_AFTER = 0.3  # of the time: a rush comes while others ask, not in the first second of a server
_LAST_SHARE = 0.7  # of the time, after which nobody begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question.

    Attributes:
        chat: Of all chats; a question that was refused begins none.
        limit: Which limit it was to meet; "": none.
        tokens: That the upstream counted; None: its answer was cut.
        strangers: Words of others in what came back.
    """

    person: Person
    copilot: str
    chat: int
    limit: str
    status: int
    run: str
    tokens: int | None
    is_as_scripted: bool
    strangers: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is asked of the limits that many share.

    Attributes:
        seats: Answers at once of a copilot.
        a_day: Requests a day of a copilot.
        of_key: Requests a day of a key.
    """

    seats: int
    a_day: int
    of_key: int


def sizes_for(users: int) -> Sizes:
    """What so many users reach."""
    return Sizes(seats=max(users // 20, 2), a_day=max(users // 4, 4), of_key=max(users // 10, 3))


@dataclass(slots=True)
class Crowd:
    """Asks, and remembers.

    Attributes:
        process: The server.
        key: An endpoint key that many use; "": none.
        seconds: Within which everybody begins.
        is_traced: Each chat has a trace id of its own.
    """

    process: Process
    seconds: float
    key: str = ""
    is_traced: bool = False
    asked: list[Asked] = field(default_factory=list)
    _chats: Callable[[], int] = field(default_factory=lambda: count().__next__)

    async def come(self, people: Iterable[Person], sizes: Sizes | None) -> None:
        """Everybody asks; without sizes nobody meets a limit."""
        some = list(people)
        calm = [one for one in some if one.habit is Habit.CALM]
        between = self.seconds * _LAST_SHARE / len(some)
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            if sizes:
                # Of each another third: nobody meets his own limit of answers at once.
                group.create_task(self._rush(calm[::3], sizes.seats))
                group.create_task(self._share(calm[1::3], "days", 2 * sizes.a_day))
                group.create_task(self._share(calm[2::3], "bench", 2 * sizes.of_key, self.key))
            for number, one in enumerate(some):
                await asyncio.sleep(max(began + number * between - time.monotonic(), 0))
                group.create_task(self._person(one))

    async def _person(self, one: Person) -> None:
        match one.habit:
            case Habit.CALM:
                await self._chat_on(one)
            case Habit.BURST:
                each = (self._ask_alone(one, one.habit.value) for _ in range(2 * A_MINUTE))
                await asyncio.gather(*each)
            case Habit.DAILY:
                for _ in range(2 * A_DAY):
                    await self._ask_alone(one, one.habit.value)
            case Habit.TALKER:
                for _ in range(2 * of_tokens(TOKENS_A_DAY)):
                    await self._ask_alone(one, one.habit.value)
            case Habit.PARALLEL:
                await self._at_once([one] * 2 * AT_ONCE, "bench", one.habit.value)

    async def _chat_on(self, one: Person) -> None:
        """Chats in turns: with a trace id, with one that the next user has too, with none."""
        for number in range(1 + one.number % 2):
            script = replace(
                SHORT, chunks=SHORT.chunks + number, signed=one.canary if one.token else ""
            )
            chat = Chat(token=one.token)
            if not self.is_traced:
                chat.trace_id = _trace_id(one, number)
            mark = self._chats()
            for turn in range(1 + one.number % 3):
                # What many ask first is the same for all.
                asking = replace(script, preface=f"{one.canary}: turn {turn}. " if turn else "")
                heard = await self._ask(one, chat, asking, mark=mark)
                if heard.status == 200:
                    chat.said.append(asking)
                await asyncio.sleep(READING_SECONDS)

    async def _share(self, some: list[Person], copilot: str, number: int, key: str = "") -> None:
        """Users ask of a limit that all of them share."""
        limit = "requests a day, of a key" if key else "requests a day, of a copilot"
        waiting = iter(range(number))

        async def on() -> None:
            for place in waiting:
                one = some[place % len(some)]
                await self._ask_alone(one, limit, copilot=copilot, key=key)

        await asyncio.gather(*(on() for _ in range(TOGETHER)))

    async def _rush(self, some: list[Person], seats: int) -> None:
        await asyncio.sleep(RUSH_AFTER * self.seconds)
        wide = [some[place % len(some)] for place in range(3 * seats)]
        await self._at_once(wide, "seats", "answers at once, of a copilot")

    async def _at_once(self, some: list[Person], copilot: str, limit: str) -> None:
        """Asks for long answers, and leaves when everybody was told something."""
        lines = await asyncio.gather(*(self._call(one, copilot) for one in some))
        for line in lines:
            await asyncio.wait({line.began, line.ended}, return_when=asyncio.FIRST_COMPLETED)
        for one, line in zip(some, lines, strict=True):
            heard = line.heard
            line.transport.abort()
            self._note(one, heard, copilot=copilot, mark=self._chats(), limit=limit, script=None)

    async def _call(self, one: Person, copilot: str) -> Line:
        asking = replace(LONG, preface=f"{one.canary}: at length. ")
        return await call(self._target(copilot), asking, chat=Chat(token=one.token))

    async def _ask_alone(
        self, one: Person, limit: str, *, copilot: str = "bench", key: str = ""
    ) -> None:
        chat = Chat(token=one.token, key=key)
        script = replace(SHORT, preface=f"{one.canary} asks. ", signed=one.canary)
        await self._ask(one, chat, script, copilot=copilot, limit=limit, mark=self._chats())

    async def _ask(
        self,
        one: Person,
        chat: Chat,
        script: Script,
        *,
        mark: int,
        copilot: str = "bench",
        limit: str = "",
    ) -> Heard:
        heard = await ask(self._target(copilot), script, chat=chat)
        self._note(one, heard, copilot=copilot, mark=mark, limit=limit, script=script)
        return heard

    def _note(
        self,
        one: Person,
        heard: Heard,
        *,
        copilot: str,
        mark: int,
        limit: str,
        script: Script | None,
    ) -> None:
        """Notes what came back; without a script it was cut."""
        let_in = heard.status == 200
        scripted = script is None or not let_in or (heard.whole and heard.text == script.text)
        self.asked.append(
            Asked(
                person=one,
                copilot=copilot,
                chat=mark,
                limit=limit,
                status=heard.status,
                run=heard.headers.get("x-completion-id", "").replace("-", "") if let_in else "",
                tokens=PROMPT_TOKENS + script.chunks if script and let_in else None,
                is_as_scripted=scripted,
                strangers=canaries_in(heard.raw) - {one.canary},
            )
        )

    def _target(self, copilot: str) -> Target:
        return Target(self.process, f"/v1/copilots/{copilot}/query")


def of_tokens(most: int) -> int:
    """How many short answers begin before so many tokens are used."""
    return -(-most // (PROMPT_TOKENS + SHORT.chunks))


def _trace_id(one: Person, number: int) -> str:
    """Own, the same as the next user's, or none."""
    match (one.number + number) % 3:
        case 0:
            return f"chat-{one.number}-{number}"
        case 1:
            return f"shared-{one.number // 6}-{number}"
        case _:
            return ""
