"""What a component does is told in steps that can be glanced at, whatever it was called with."""

from uuid import UUID

from copilot_admin.agent.component_runs.text import LONGEST_DETAIL
from copilot_admin.agent.components.events import MOST_DETAILS, ComponentEvents
from protocol.components import create_output


def events_of_component():
    return ComponentEvents(
        title="Finder", description="", id=UUID(int=1), stream_all_text=False, show_steps=True
    )


def test_of_very_many_arguments_the_first_are_told():
    arguments = {f"{number}{'x' * 10_000}": "y" * 100_000 for number in range(1_000)}
    (step,) = events_of_component().begin(arguments)
    (details,) = step.details
    assert len(details) == MOST_DETAILS
    assert max(map(len, details)) < 200
    assert max(map(len, details.values())) <= LONGEST_DETAIL + 2


def test_words_of_progress_have_an_end():
    output = create_output("progress", {"message": "x" * 1_000_000, "progress": 0.5, "step": ""})
    (step,) = events_of_component().take(output)
    assert len(step.message) <= LONGEST_DETAIL + 2
