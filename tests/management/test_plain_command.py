"""What a command prints steers no terminal, whoever wrote what it quotes."""

from io import StringIO
from pathlib import Path
import re

from django.core.management import call_command, get_commands, load_command_class
from django.core.management.base import CommandError
import pytest
import yaml

from copilot_admin.management.commands import worker
from copilot_admin.management.plain_command import PlainCommand, PlainOutput
from copilot_admin.models import Copilot
from tests.factories import make_copilot

STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
HOSTILE = "Desk\x1b]0;owned\x07\x9b31m\r\u202eksed"
SHOWN = "Desk\ufffd]0;owned\ufffd\ufffd31m\ufffd\ufffdksed"


class Terminal(StringIO):
    """An output that somebody looks at."""

    def isatty(self) -> bool:
        return True


def test_every_command_of_ours_prints_this_way() -> None:
    ours = [name for name, app in get_commands().items() if app == "copilot_admin"]
    others = {
        name
        for name in ours
        if not isinstance(load_command_class("copilot_admin", name), PlainCommand)
    }
    assert others == {worker.__name__.rpartition(".")[2]}  # the library's: it quotes nobody


def test_what_a_terminal_would_obey_is_written_as_a_sign() -> None:
    out = StringIO()
    PlainOutput(out).write(f"{HOSTILE}\n\tof Zoë 日本 👩\u200d🚀")
    assert out.getvalue() == f"{SHOWN}\n\tof Zoë 日本 👩\u200d🚀\n"


def test_an_error_is_coloured_and_its_text_colours_nothing() -> None:
    errors = PlainOutput(Terminal())
    errors.style_func = lambda text: f"\x1b[31m{text}\x1b[0m"
    errors.write(HOSTILE)
    assert errors.getvalue() == f"\x1b[31m{SHOWN}\n\x1b[0m"


@pytest.mark.django_db
def test_a_file_with_hostile_names_is_told_plainly(tmp_path: Path) -> None:
    file = tmp_path / "desk.yaml"
    file.write_text(yaml.safe_dump({"version": 1, "copilots": [{"name": "A", HOSTILE: 1}]}))
    said = StringIO()
    with pytest.raises(CommandError) as refused:
        call_command("copilots", "import", str(file), stdout=said)
    errors = StringIO()
    PlainCommand(stderr=errors).stderr.write(str(refused.value))
    assert "Desk" in errors.getvalue()
    assert not STEERING.search(said.getvalue() + errors.getvalue())


@pytest.mark.django_db
def test_an_export_is_written_as_it_is() -> None:
    make_copilot(slug="desk", system_prompt=f"Say {HOSTILE}")
    out = StringIO()
    call_command("copilots", "export", "desk", stdout=out)
    prompts = [one["system_prompt"] for one in yaml.safe_load(out.getvalue())["copilots"]]
    assert prompts == list(Copilot.objects.values_list("system_prompt", flat=True))


@pytest.mark.django_db
def test_a_command_writes_to_the_process_where_nobody_says_where(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("sweep")
    assert capsys.readouterr().out.startswith("Contents without a referrer: 0 deleted.\n")
