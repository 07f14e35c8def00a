"""The fixed status updates that a builder wrote."""

from copilot_admin.engine.values.spec import CopilotSpec, StepPlace
from protocol.events import StatusUpdate


def steps_at(place: StepPlace, *, spec: CopilotSpec) -> tuple[StatusUpdate, ...]:
    """The steps that stand at this place of the stream; none when the copilot shows none."""
    if not spec.show_steps:
        return ()
    return tuple(
        StatusUpdate(
            message=step.message,
            level=step.type,
            details=(step.details,) if step.details else (),
        )
        for step in spec.steps
        if step.at is place
    )
