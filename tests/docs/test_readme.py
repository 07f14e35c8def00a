"""What documents tell people to type does what they say it does."""

from argparse import Namespace
import re
import shlex
import subprocess

from django.core.management import CommandError, get_commands, load_command_class
import pytest

from copilot_admin.import_export.importing import import_file
from copilot_admin.settings import BASE_DIR
from tests.docs.test_docs import BLOCK, DOCUMENTS
from tests.polling import HANGS_SECONDS

README = (BASE_DIR / "README.md").read_text()
OURS = "http://127.0.0.1:7777"
MADE = re.compile(r"(?:`|^)(make [a-z]+(?: [A-Z]+=\S+?)?)(?:`|$)", re.MULTILINE)
QUOTED = re.compile(r"`manage\.py ([a-z_]+ [^`]+)`")
TYPED = re.compile(r"^ *(?:\S+ )*\.venv/bin/python manage\.py (.+)$", re.MULTILINE)


TEXTS = [document.read_text() for document in DOCUMENTS]
NAMED = {line for text in TEXTS for line in QUOTED.findall(BLOCK.sub("", text))}
# Without where their output goes, and what is said of them.
COPIED = {
    re.split(r" [>|#&;\\]", line)[0].strip() for text in TEXTS for line in TYPED.findall(text)
}


def parsed(line: str) -> Namespace:
    name, *arguments = shlex.split(line)
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    return parser.parse_args(arguments)


@pytest.mark.parametrize("line", sorted(COPIED))
def test_a_command_is_taken_as_it_is_copied(line):
    assert parsed(line)


@pytest.mark.parametrize("line", sorted(NAMED - COPIED))
def test_a_command_knows_what_sentences_write_behind_it(line):
    """A sentence that names a command leaves out what is told elsewhere."""
    try:
        parsed(line)
    except CommandError as error:
        assert "the following arguments are required" in str(error)


@pytest.mark.curl
@pytest.mark.django_db(transaction=True)
def test_the_question_of_the_readme_is_answered_in_a_shell(service_url):
    samples = (BASE_DIR / "copilot_admin" / "samples" / "copilots.yaml").read_bytes()
    import_file(samples, default_access="open", publishing=True)
    (block,) = (one for one in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) if "curl" in one)
    asked = subprocess.run(
        ["sh", "-ec", block.replace(OURS, service_url)],  # noqa: S607  # as somebody types it
        capture_output=True,
        text=True,
        timeout=HANGS_SECONDS,
        check=True,
    )
    assert "event: copilotMessageChunk\ndata: " in asked.stdout
