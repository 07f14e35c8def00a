"""One call of a component, and everything that can go wrong in it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, suppress
import logging
import threading
from typing import Any

import pytest

from copilot_admin.agent.components import runs
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.runs import ComponentRun, arguments_in
from copilot_admin.errors import BadArguments, ComponentFailed, ProviderRefused
from protocol.components import ComponentOutput, ContractBreach, Message, create_output
from tests.agent.components.sample_components import Echo, EchoTwo, Player
from tests.polling import HANGS_SECONDS

HELLO = create_output("text", "hello")
BROKE_DOWN = "The component '{}' broke down. The error has been recorded."


class Acts(Component):
    """Does what its configuration says."""

    name = "acts"

    async def tool_eval(self, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """Acts."""
        async with aclosing(self.config["act"]()) as outputs:
            async for output in outputs:
                yield output


class Blocks(Component):
    """Waits in a thread until it is released."""

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


def raising(error: BaseException) -> ComponentRun:
    async def act() -> AsyncGenerator[ComponentOutput, None]:
        yield HELLO
        raise error

    return acting(act)


def outputs_of(run: ComponentRun) -> list[ComponentOutput]:
    async def collect() -> list[ComponentOutput]:
        return [output async for output in run.stream()]

    return asyncio.run(collect())


def failure(run: ComponentRun, kind: type[Exception] = ComponentFailed) -> str:
    with pytest.raises(kind) as caught:
        outputs_of(run)
    assert run.error == str(caught.value)
    assert run.seconds > 0
    return run.error


def test_a_run_keeps_its_outputs_and_merges_them():
    run = ComponentRun(EchoTwo, {"query": "hello"}, system={"query": "the system's"})
    assert outputs_of(run) == run.outputs == [create_output("text", one) for one in ("he", "llo")]
    assert (run.merged, run.error, run.usage) == (HELLO, "", ())


@pytest.mark.parametrize(
    ("component", "arguments", "sentence"),
    [
        (Echo, {"query": "x", "more": 1}, "echo has no parameter 'more'. Its parameters: query."),
        (Echo, {"query": 1}, "Wrong arguments for echo: query: 1 is not of type 'string'."),
        (Echo, {"_sys_uid": "x"}, "echo has no parameter '_sys_uid'. Its parameters: query."),
        (Player, {"x": 1}, "player has no parameter 'x'. Its parameters: none."),
    ],
)
def test_arguments_must_fit_the_manifest(component: Any, arguments: Any, sentence: str):
    assert failure(ComponentRun(component, arguments), BadArguments) == sentence


@pytest.mark.parametrize(
    ("error", "kind", "sentence"),
    [
        (ValueError("Give \n a city."), BadArguments, "Give a city."),
        (ValueError(), BadArguments, "The component 'player' refused its arguments."),
        (ValueError("x" * 2000), BadArguments, "x" * 1000),
        (ComponentFailed("It rains."), ComponentFailed, "It rains."),
        (
            ProviderRefused("The key is wrong."),
            ComponentFailed,
            "The component 'player' could not ask its model. The key is wrong.",
        ),
    ],
)
def test_an_error_with_a_sentence_keeps_it(error: Exception, kind: Any, sentence: str):
    run = play(HELLO, error)
    assert failure(run, kind) == sentence
    assert run.outputs == [HELLO]


@pytest.mark.parametrize(
    "run",
    [
        play(KeyError("secret")),
        play(ContractBreach("not of the contract")),
        play("words"),
        raising(SystemExit(1)),
        raising(asyncio.CancelledError()),
        raising(TimeoutError()),
        ComponentRun(Player, {}),  # its configuration lacks what it reads
    ],
)
def test_any_other_error_is_recorded_and_told_without_details(
    run: ComponentRun, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.ERROR):
        assert failure(run) == BROKE_DOWN.format(run.component.name)
    (record,) = caplog.records
    assert record.message == f"The component '{run.component.name}' broke down"
    assert record.exc_info


@pytest.mark.parametrize(
    ("limit", "value", "last"),
    [
        ("MAX_OUTPUTS", 2, HELLO),
        ("MAX_CHARACTERS", 1_000, create_output("text", "", raw_data={"a": "x" * 1_000})),
    ],
)
def test_too_many_or_too_large_outputs_end_the_call(
    limit: str, value: int, last: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(runs, limit, value)
    run = play(HELLO, HELLO, last)
    assert failure(run) == "The component 'player' gave more than is taken in."
    assert len(run.outputs) == 2


async def _stalls() -> AsyncGenerator[ComponentOutput, None]:
    yield HELLO
    await asyncio.Event().wait()


async def _never_waits() -> AsyncGenerator[ComponentOutput, None]:
    while True:
        yield HELLO


@pytest.mark.parametrize("act", [_stalls, _never_waits])
def test_a_call_has_a_deadline(act: Callable[[], Any], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runs, "MAX_SECONDS", 0.02)
    run = acting(act)
    assert failure(run) == "The component 'acts' did not end within 0.02 seconds."
    assert run.outputs


@pytest.mark.parametrize("error", [None, KeyError("too late")])
def test_a_caller_who_leaves_closes_the_component(error: Exception | None):
    closed: list[str] = []

    async def act() -> AsyncGenerator[ComponentOutput, None]:
        try:
            yield HELLO
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            closed.append("closed")
            if error:
                raise error

    async def leave() -> None:
        async with aclosing(acting(act).stream()) as outputs:
            assert await anext(outputs) == HELLO

    asyncio.run(leave())
    assert closed == ["closed"]


def test_a_component_that_ignores_that_its_caller_left_keeps_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(runs, "CLOSING_SECONDS", 0.01)
    goes_on = True

    async def act() -> AsyncGenerator[ComponentOutput, None]:
        yield HELLO
        while goes_on:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    async def leave() -> None:
        nonlocal goes_on
        async with asyncio.timeout(HANGS_SECONDS), aclosing(acting(act).stream()) as outputs:
            await anext(outputs)
        goes_on = False

    asyncio.run(leave())


def blocking() -> dict[str, Any]:
    events = {name: threading.Event() for name in ("entered", "go", "closed")}
    return {**events, "threads": []}


def test_a_plain_component_runs_in_a_thread_and_does_not_block():
    config = blocking()

    async def collect() -> list[ComponentOutput]:
        run = ComponentRun(Blocks, {}, config=config)
        async with aclosing(run.stream()) as outputs:
            first = await anext(outputs)
            config["go"].set()  # the loop is free while the thread waits for it
            return [first, *[output async for output in outputs]]

    assert asyncio.run(collect()) == [HELLO, HELLO]
    assert config["threads"][0].startswith("component")
    assert config["closed"].is_set()


def test_a_thread_that_still_works_is_left_and_closed_when_it_comes_back():
    config = blocking()

    async def stay() -> None:
        run = ComponentRun(Blocks, {}, config=config)
        async with aclosing(run.stream()) as outputs:
            await anext(outputs)
            waiting = asyncio.ensure_future(anext(outputs))
            await asyncio.to_thread(config["entered"].wait, HANGS_SECONDS)
            waiting.cancel()
            await asyncio.wait({waiting})
        assert not config["closed"].is_set()
        config["go"].set()
        assert await asyncio.to_thread(config["closed"].wait, HANGS_SECONDS)

    asyncio.run(stay())


@pytest.mark.parametrize(
    ("required", "parameters", "arguments"),
    [
        (["query"], {"query": "x"}, {"query": "x"}),
        (["query"], {}, {"query": "q"}),
        (["query"], {"_sys_uid": "1", "model_configs": {}, "more": 1}, {"more": 1, "query": "q"}),
        ([], {}, {}),
        (["a", "b"], {}, {}),
        (["a", "b"], {"a": 1}, {"a": 1, "b": "q"}),
    ],
)
def test_a_question_is_the_only_missing_argument(required: Any, parameters: Any, arguments: Any):
    schema = {"type": "object", "properties": {}, "required": required}
    component = type("Asked", (Player,), {"manifests": ({"parameters": schema},)})
    assert arguments_in(component, parameters, question="q") == arguments


def test_as_a_program_it_calls_run_with_the_system_inputs():
    seen: dict[str, Any] = {}

    class Runs(Echo):
        async def run(self, message: Message) -> Message:  # type: ignore[override]  # takes less
            seen.update(message.content, system=dict(self.system))
            return Message({"ok": True})

    run = ComponentRun(Runs, {"query": "x"}, system={"_sys_uid": "1"}, as_program=True)
    assert outputs_of(run) == [create_output("json", '{"ok": true}')]
    assert seen == {"query": "x", "system": {"_sys_uid": "1"}}


def test_as_a_program_it_keeps_the_tokens_of_the_models_it_asked():
    outputs = [
        create_output("text", name, name=name, usage={**counts, "name": name})
        for counts in ({"prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3},)
        for name in ("small", "large")
    ]
    run = ComponentRun(Player, {}, config={"outputs": outputs}, as_program=True)
    outputs_of(run)
    assert run.usage == (
        {"name": "small, large", "prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6},
    )
