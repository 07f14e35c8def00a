"""One call of a component, and everything that can go wrong in it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing
import logging
import threading
from typing import Any

import pytest

from copilot_admin.agent.components import runs as component_runs
from copilot_admin.agent.components import steps
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import MODEL, ModelClient
from copilot_admin.agent.components.runs import ComponentRun, arguments_in, check_arguments
from copilot_admin.agent.components.steps import steps_of
from copilot_admin.agent.llm.retries import Pace
from copilot_admin.agent.values.spec import Timeouts
from copilot_admin.errors import BadArguments, ComponentFailed, ProviderRefused
from protocol.components import ComponentOutput, ContractBreach, Message, create_output
from tests.agent.components.sample_components import Asker, Echo, EchoTwo, Player
from tests.agent.scripted import ScriptedProvider, broken, text
from tests.polling import HANGS_SECONDS

HELLO = create_output("text", "hello")


class Acts(Component):
    """Does what its configuration says."""

    name = "acts"

    async def tool_eval(self, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """Acts."""
        async with aclosing(self.config["act"]()) as outputs:
            async for output in outputs:
                yield output


class Blocks(Component):
    """Waits in a thread until it is let go."""

    name = "blocks"

    def tool_eval(self, **kwargs: Any) -> Generator[ComponentOutput, None, None]:
        """Waits."""
        self.config["threads"].append(threading.current_thread().name)
        try:
            yield HELLO
            self.config["entered"].set()
            assert self.config["go"].wait(HANGS_SECONDS)
            yield HELLO
        finally:
            self.config["closed"].set()


def play(*outputs: Any) -> ComponentRun:
    return ComponentRun(Player, {}, config={"outputs": outputs})


def acting(act: Callable[[], Any]) -> ComponentRun:
    return ComponentRun(Acts, {}, config={"act": act})


def carried_out(run: ComponentRun) -> list[ComponentOutput]:
    async def collected() -> list[ComponentOutput]:
        return [output async for output in run.stream()]

    return asyncio.run(collected())


def failure(run: ComponentRun, kind: type[Exception] = ComponentFailed) -> str:
    with pytest.raises(kind) as caught:
        carried_out(run)
    assert run.error == str(caught.value)
    assert run.seconds > 0
    return run.error


def test_it_gives_the_outputs_and_keeps_them():
    run = ComponentRun(EchoTwo, {"query": "hello"})
    assert (
        carried_out(run)
        == run.outputs
        == [
            create_output("text", "he"),
            create_output("text", "llo"),
        ]
    )
    assert run.merged == HELLO
    assert (run.error, run.usage) == ("", ())
    assert run.seconds > 0


def test_the_tokens_are_those_of_the_models_that_were_asked():
    with ScriptedProvider([text("yes")]) as provider:
        door = ModelClient(provider, model="small", timeouts=Timeouts(), parameters={}, pace=Pace())
        run = ComponentRun(Asker, {"query": "?"}, system={MODEL: door})
        assert carried_out(run)[0] == create_output("text", "yes", visible_scope="llm")


def test_arguments_go_before_system_inputs_of_the_same_name():
    run = ComponentRun(Echo, {"query": "mine"}, system={"query": "the system's"})
    assert carried_out(run) == [create_output("text", "mine")]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"query": "x", "more": 1}, "echo has no parameter 'more'. Its parameters: query."),
        ({"query": 1}, "Wrong arguments for echo: query: 1 is not of type 'string'."),
        ({}, "Wrong arguments for echo: query is missing."),
        ({"_sys_traceid": "evil"}, "echo has no parameter '_sys_traceid'. Its parameters: query."),
    ],
)
def test_arguments_must_be_those_of_the_manifest(arguments: Any, sentence: str):
    assert failure(ComponentRun(Echo, arguments), BadArguments) == sentence


def test_a_component_without_parameters_says_so():
    assert failure(ComponentRun(Player, {"x": 1}), BadArguments) == (
        "player has no parameter 'x'. Its parameters: none."
    )


def test_a_manifest_without_properties_knows_no_arguments():
    bare = type("Bare", (Player,), {"manifests": ({"parameters": {"type": "object"}},)})
    check_arguments(bare, {})
    with pytest.raises(BadArguments, match="Its parameters: none"):
        check_arguments(bare, {"x": 1})


def test_a_value_error_is_told_on_one_line():
    assert failure(play(HELLO, ValueError("Give \n a city.")), BadArguments) == "Give a city."
    assert failure(play(ValueError()), BadArguments) == (
        "The component 'player' refused its arguments."
    )
    assert len(failure(play(ValueError("x" * 2000)), BadArguments)) == 1000


def test_an_error_of_ours_keeps_its_words():
    assert failure(play(ComponentFailed("It rains."))) == "It rains."
    assert failure(play(BadArguments("Give a city.")), BadArguments) == "Give a city."
    assert failure(play(ProviderRefused("The key is wrong."))) == (
        "The component 'player' could not ask its model. The key is wrong."
    )


def _raiser(error: BaseException) -> Callable[[], AsyncGenerator[ComponentOutput, None]]:
    async def act() -> AsyncGenerator[ComponentOutput, None]:
        for output in (HELLO, error):
            if isinstance(output, BaseException):
                raise output
            yield output

    return act


@pytest.mark.parametrize(
    "run",
    [
        play(KeyError("secret")),
        play(ContractBreach("not of the contract")),
        play("words"),
        acting(_raiser(SystemExit(1))),
        acting(_raiser(asyncio.CancelledError())),
        acting(_raiser(TimeoutError())),
        ComponentRun(Player, {}),  # its configuration lacks what it reads
        ComponentRun(Player, {}, config={"outputs": 5}),
    ],
)
def test_whatever_else_it_raises_is_recorded_and_told_without_details(
    run: ComponentRun, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.ERROR):
        assert failure(run) == (
            f"The component '{run.component.name}' broke down. The error has been recorded."
        )
    (record,) = caplog.records
    assert record.message == f"The component '{run.component.name}' broke down"
    assert record.exc_info


def test_what_came_before_an_error_is_kept():
    run = play(HELLO, KeyError("x"))
    failure(run)
    assert run.outputs == [HELLO]


def test_too_many_outputs_are_not_taken_in(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(component_runs, "MOST_OUTPUTS", 2)
    assert len(carried_out(play(HELLO, HELLO))) == 2
    run = play(HELLO, HELLO, HELLO)
    assert failure(run) == "The component 'player' gave more than is taken in."
    assert len(run.outputs) == 2


@pytest.mark.parametrize(
    ("more", "fits"),
    [
        ({"text": "x" * 94}, True),
        ({"text": "x" * 95}, False),
        ({"text": {"info": "", "other": ["x" * 100]}}, False),
        ({"text": "", "raw_data": {"a": "x" * 100}}, False),
    ],
)
def test_outputs_that_are_too_large_are_not_taken_in(
    more: dict[str, Any], fits: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(component_runs, "MOST_CHARACTERS", 100)
    run = play(create_output("text", **more))
    if fits:
        assert len(carried_out(run)) == 1
    else:
        assert failure(run) == "The component 'player' gave more than is taken in."


async def _stalls() -> AsyncGenerator[ComponentOutput, None]:
    yield HELLO
    await asyncio.Event().wait()


async def _never_waits() -> AsyncGenerator[ComponentOutput, None]:
    while True:
        yield HELLO


@pytest.mark.parametrize("act", [_stalls, _never_waits])
def test_a_component_ends_in_time(act: Callable[[], Any], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(component_runs, "LONGEST_SECONDS", 0.02)
    run = acting(act)
    assert failure(run) == "The component 'acts' did not end within 0.02 seconds."
    assert run.outputs


def test_a_consumer_that_leaves_closes_the_component():
    closed: list[str] = []

    async def act() -> AsyncGenerator[ComponentOutput, None]:
        try:
            yield HELLO
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            closed.append("closed")

    async def leave() -> None:
        async with aclosing(acting(act).stream()) as outputs:
            assert await anext(outputs) == HELLO
        assert closed == ["closed"]

    asyncio.run(leave())


def test_a_component_that_breaks_while_it_closes_troubles_nobody(
    caplog: pytest.LogCaptureFixture,
):
    async def act() -> AsyncGenerator[ComponentOutput, None]:
        try:
            yield HELLO
            await asyncio.Event().wait()
        finally:
            raise KeyError("too late")

    async def leave() -> None:
        async with aclosing(acting(act).stream()) as outputs:
            await anext(outputs)

    asyncio.run(leave())
    assert caplog.records == []


def test_a_component_that_does_not_close_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(component_runs, "CLOSING_SECONDS", 0.01)

    async def leave() -> None:
        go = asyncio.Event()

        async def act() -> AsyncGenerator[ComponentOutput, None]:
            try:
                yield HELLO
                await asyncio.Event().wait()
            finally:
                await go.wait()

        async with aclosing(acting(act).stream()) as outputs:
            await anext(outputs)
        go.set()

    asyncio.run(leave())


def blocking() -> dict[str, Any]:
    events = {name: threading.Event() for name in ("entered", "go", "closed")}
    return {**events, "threads": []}


def test_a_plain_component_runs_in_a_thread_and_does_not_block():
    config = blocking()

    async def both() -> list[ComponentOutput]:
        run = ComponentRun(Blocks, {}, config=config)
        async with aclosing(run.stream()) as outputs:
            first = await anext(outputs)
            config["go"].set()  # the loop is free while the thread waits for it
            return [first, *[output async for output in outputs]]

    assert asyncio.run(both()) == [HELLO, HELLO]
    assert config["threads"][0].startswith("component")
    assert config["closed"].is_set()


def test_a_component_that_takes_all_its_threads_keeps_no_other_from_running(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(steps, "_MOST_THREADS", 1)
    steps._threads_of.cache_clear()
    config = blocking()

    async def beside() -> list[ComponentOutput]:
        run = ComponentRun(Blocks, {}, config=config)
        async with aclosing(run.stream()) as outputs:
            await anext(outputs)
            await asyncio.to_thread(config["entered"].wait, HANGS_SECONDS)
            said = [output async for output in EchoTwo().stream(query="hi")]
            config["go"].set()
            return said

    assert len(asyncio.run(beside())) == 2
    assert config["closed"].wait(HANGS_SECONDS)
    steps._threads_of.cache_clear()


def test_a_call_that_is_left_while_it_waits_for_a_thread_never_runs(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(steps, "_MOST_THREADS", 1)
    steps._threads_of.cache_clear()
    config, waiting = blocking(), blocking()

    async def leave() -> None:
        run = ComponentRun(Blocks, {}, config=config)
        async with aclosing(run.stream()) as outputs:
            await anext(outputs)
            await asyncio.to_thread(config["entered"].wait, HANGS_SECONDS)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01), aclosing(Blocks(**waiting).stream()) as others:
                    await anext(others)
            config["go"].set()
            assert [output async for output in outputs] == [HELLO]

    asyncio.run(leave())
    assert waiting["threads"] == []
    steps._threads_of.cache_clear()


def test_a_thread_that_still_works_is_left_and_closes_when_it_comes_back():
    config = blocking()

    async def leave() -> None:
        run = ComponentRun(Blocks, {}, config=config)
        async with aclosing(run.stream()) as outputs:
            await anext(outputs)
            await asyncio.to_thread(config["entered"].wait, HANGS_SECONDS)
        assert not config["closed"].is_set()
        config["go"].set()
        assert await asyncio.to_thread(config["closed"].wait, HANGS_SECONDS)

    asyncio.run(leave())


def test_a_plain_generator_that_is_left_between_two_steps_is_closed_at_once():
    closed: list[str] = []

    def numbers() -> Generator[int, None, None]:
        try:
            yield 1
            yield 2
        finally:
            closed.append("closed")

    async def leave() -> None:
        async with aclosing(steps_of(numbers())) as steps:
            assert await anext(steps) == 1
        assert closed == ["closed"]

    asyncio.run(leave())


def test_steps_are_those_of_either_kind_of_generator():
    async def later() -> AsyncGenerator[int, None]:
        yield 1
        yield 2

    async def collected(generator: Any) -> list[int]:
        return [step async for step in steps_of(generator)]

    assert asyncio.run(collected(later())) == [1, 2]
    assert asyncio.run(collected(one for one in (1, 2))) == [1, 2]
    with pytest.raises(TypeError, match="tool_eval must be a generator"):
        asyncio.run(collected([1, 2]))


def test_an_async_generator_that_is_left_is_closed():
    closed: list[str] = []

    async def numbers() -> AsyncGenerator[int, None]:
        try:
            yield 1
        finally:
            closed.append("closed")

    async def leave() -> None:
        async with aclosing(steps_of(numbers())) as steps:
            await anext(steps)
        assert closed == ["closed"]

    asyncio.run(leave())


@pytest.mark.parametrize(
    ("parameters", "question", "arguments"),
    [
        ({"query": "x"}, "q", {"query": "x"}),
        ({}, "q", {"query": "q"}),
        ({}, "", {}),
        ({"_sys_uid": "1", "model_configs": {}, "more": 1}, "", {"more": 1}),
    ],
)
def test_a_question_takes_the_place_of_the_only_missing_parameter(
    parameters: Any, question: str, arguments: Any
):
    assert arguments_in(Echo, parameters, question=question) == arguments


def test_a_question_takes_no_place_where_two_or_none_are_missing():
    assert arguments_in(Player, {}, question="q") == {}
    two = {"parameters": {"type": "object", "properties": {}, "required": ["a", "b"]}}
    both = type("Both", (Player,), {"manifests": (two,)})
    assert arguments_in(both, {}, question="q") == {}
    assert arguments_in(both, {"a": 1}, question="q") == {"a": 1, "b": "q"}


def test_as_a_program_it_calls_run_with_the_system_inputs():
    seen: dict[str, Any] = {}

    class Runs(Echo):
        async def run(self, message: Message) -> Message:  # type: ignore[override]  # takes less
            seen.update(message.content, system=dict(self.system))
            return Message({"ok": True})

    run = ComponentRun(Runs, {"query": "x"}, system={"_sys_uid": "1"}, as_program=True)
    assert carried_out(run) == [create_output("json", '{"ok": true}')]
    assert seen == {"query": "x", "system": {"_sys_uid": "1"}}


def test_a_model_that_cannot_be_asked_is_told_of():
    with ScriptedProvider([broken(ProviderRefused("No such model."))]) as provider:
        door = ModelClient(provider, model="small", timeouts=Timeouts(), parameters={}, pace=Pace())
        run = ComponentRun(Asker, {"query": "?"}, system={MODEL: door})
        assert failure(run) == "The component 'asker' could not ask its model. No such model."


def test_as_a_program_it_keeps_the_tokens_of_the_models_it_asked():
    class Counted(Component):
        """Says what two models cost."""

        name = "counted"

        async def tool_eval(self, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
            """Says what two models cost."""
            for name in ("small", "large"):
                usage = {"prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3}
                yield create_output("text", name, name=name, usage={**usage, "name": name})

    run = ComponentRun(Counted, {}, as_program=True)

    async def whole() -> None:
        async for _ in run.stream():
            pass

    asyncio.run(whole())
    assert run.usage == (
        {
            "name": "small, large",
            "prompt_tokens": 4,
            "completion_tokens": 2,
            "total_tokens": 6,
        },
    )


@pytest.mark.parametrize(("number", "is_beside"), [(3, False), (5_000, True)])
def test_many_arguments_are_compared_beside_the_event_loop(number: int, is_beside: bool) -> None:
    threads: list[threading.Thread] = []

    class Looks(Echo):
        name = "looks"

        @classmethod
        def parameters(cls) -> dict[str, Any]:
            threads.append(threading.current_thread())
            return {"properties": {"rows": {"items": {"type": "integer"}}}}

    wrong = ComponentRun(Looks, {"rows": ["x"] * number})
    sentence = failure(wrong, BadArguments)
    assert sentence.startswith("Wrong arguments for looks: rows[0]: 'x' is not of type 'integer'")
    assert [one is not threading.main_thread() for one in threads] == [is_beside]
