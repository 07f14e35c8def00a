"""Where data does not fit a schema is told with an end."""

from collections.abc import Iterator

import pytest

from copilot_admin.agent.worker_processes import FailureReason, TaskFailed, WorkersBusy
from copilot_admin.copilots import data_fit
from copilot_admin.copilots.data_fit import FitNotTold, fit_faults, perform


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """What is asked of another process, which is this one here."""
    given: list[bytes] = []

    async def carried_out(order, body, *, on_reply):
        given.append(body)
        for reply in perform(order, body):
            on_reply(reply)

    monkeypatch.setattr(data_fit.WORKERS, "run", carried_out)
    yield given


def test_a_few_values_are_looked_at_here(orders):
    schema = {"properties": {"age": {"type": "number"}}}
    assert fit_faults({"age": 1}, schema) == ()
    assert fit_faults({"age": "x"}, schema) == ("$.age: 'x' is not of type 'number'",)
    assert orders == []


@pytest.mark.parametrize(
    ("data", "schema", "faults"),
    [
        ("b", {"pattern": "^a"}, ("$: 'b' does not match '^a'",)),
        ("b", {"pattern": "^b"}, ()),
        (
            {"x": 1},
            {"patternProperties": {"x": {"type": "string"}}},
            ("$.x: 1 is not of type 'string'",),
        ),
        (
            1,
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
            ("$: 1 is not of type 'string'",),
        ),
        (1, {"$dynamicRef": "#/$defs/a", "$defs": {"a": {"type": "number"}}}, ()),
    ],
)
def test_what_may_take_long_is_looked_at_in_another_process(orders, data, schema, faults):
    assert fit_faults(data, schema) == faults
    assert len(orders) == 1


@pytest.mark.parametrize("error", [TaskFailed(FailureReason.TIME), WorkersBusy(), TimeoutError()])
def test_what_does_not_come_to_its_end_is_not_told(monkeypatch, error):
    async def lost(order, body, *, on_reply):
        raise error

    monkeypatch.setattr(data_fit.WORKERS, "run", lost)
    with pytest.raises(FitNotTold):
        fit_faults("a", {"pattern": "a"})


def test_a_process_ends_an_expression_that_never_does(monkeypatch):
    assert fit_faults("aaa", {"pattern": "^a+$"}) == ()
    monkeypatch.setattr(data_fit, "SECONDS", 0.2)
    with pytest.raises(FitNotTold):
        fit_faults("a" * 50 + "!", {"pattern": "^(a+)+$"})
