"""What breaks the contract of components is said before the first call, and stops the server."""

from collections.abc import Generator
from io import StringIO
from typing import Any, ClassVar

from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
import pytest

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.registry import Registry, registry
from copilot_admin.copilots import checks
from copilot_admin.management.commands import check_components
from protocol.components import ComponentOutput, create_output
from tests.agent.components.sample_components import Echo


class Strict(Component):
    """Takes nothing of the system."""

    name = "strict"

    def tool_eval(self, traceid: str) -> Generator[ComponentOutput, None, None]:
        """Breaks two rules.

        Args:
            traceid: Whose.
        """
        yield create_output("text", traceid)


class Unsampled(Component):
    """Has no samples."""

    name = "unsampled"
    samples: ClassVar[tuple[()]] = ()

    def tool_eval(self, **kwargs: Any) -> Generator[ComponentOutput, None, None]:
        """Gives nothing to try."""
        yield create_output("text", "x")


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes these the components of the server."""

    def use(*classes: type[Component]) -> None:
        found = Registry(classes)
        for one in (checks, check_components):
            monkeypatch.setattr(one, "registry", lambda: found)

    return use


def checked(*names: str) -> list[str]:
    out = StringIO()
    call_command("check_components", *names, stdout=out)
    return out.getvalue().splitlines()


def test_the_components_of_this_release_have_no_fault():
    assert checks.check_components(None) == []
    lines = checked()
    assert len(lines) == 6 * len(registry().all())
    assert {line.partition(": ")[2] for line in lines} == {"kept"}


def test_a_broken_rule_is_an_error_that_names_class_and_rule(use: Any):
    use(Strict, Echo)
    messages = checks.check_components(None)
    assert [message.id for message in messages] == ["copilot.E011"] * 2
    for message, rule in zip(
        messages, ("ToolEvalInputNameRule", "ToolEvalKwargsRule"), strict=True
    ):
        assert f"test_component_checks.Strict breaks {rule}: " in message.msg


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["quickstart", "--no-serve"]])
def test_a_broken_rule_stops_the_server(use: Any, command: list[str]):
    use(Strict)
    with pytest.raises(SystemCheckError, match=r"breaks ToolEvalInputNameRule"):
        call_command(*command, skip_checks=False)


def test_the_command_says_each_finding_and_fails(use: Any, capsys: pytest.CaptureFixture[str]):
    use(Strict, Unsampled, Echo)
    with pytest.raises(CommandError):
        call_command("check_components")
    broken = [line for line in capsys.readouterr().out.splitlines() if not line.endswith("kept")]
    assert [line.partition(":")[0] for line in broken] == [
        "unsampled v1 ToolEvalOutputJsonRule",
        "strict v1 ToolEvalInputNameRule",
        "strict v1 ToolEvalKwargsRule",
        "strict v1 ToolEvalOutputJsonRule",
    ]
