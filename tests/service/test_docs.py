"""The documents keep their promises."""

import json
from pathlib import Path
import re
import shlex

from django.core.management import get_commands
from django.test import AsyncClient
import pytest

from copilot_admin.copilot_file.importing import import_file
from copilot_admin.copilot_templates import templates
from copilot_admin.settings import BASE_DIR
from tests.streams import read

DOCUMENTS = [BASE_DIR / "README.md", *sorted((BASE_DIR / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#]+)\)")
FILE = re.compile(r"`((?:copilot_admin|protocol|tests|docs|templates|benchmarks)/[\w./-]+)`")
COMMAND = re.compile(r"manage\.py (\w+)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
class TestEveryDocument:
    def test_its_links_lead_somewhere(self, document: Path):
        targets = [link for link in LINK.findall(document.read_text()) if "://" not in link]
        missing = [link for link in targets if not (document.parent / link).exists()]
        assert missing == []

    def test_the_files_that_it_names_exist(self, document: Path):
        missing = [
            name for name in FILE.findall(document.read_text()) if not (BASE_DIR / name).exists()
        ]
        assert missing == []

    def test_the_commands_that_it_names_exist(self, document: Path):
        named = set(COMMAND.findall(document.read_text()))
        assert named <= set(get_commands())


def readme_request() -> tuple[str, dict[str, str], dict[str, object]]:
    """Path, headers and body of the README's curl."""
    block = next(
        block
        for block in re.findall(r"```sh\n(.*?)```", (BASE_DIR / "README.md").read_text(), re.DOTALL)
        if block.startswith("curl")
    )
    words = shlex.split(block.replace("\\\n", " "))
    path = next(word for word in words if word.startswith("http://127.0.0.1:7777"))
    rows = [words[index + 1].split(": ", 1) for index, word in enumerate(words) if word == "-H"]
    body = json.loads(words[words.index("-d") + 1])
    return path.removeprefix("http://127.0.0.1:7777"), dict(rows), body


@pytest.mark.django_db(transaction=True)
def test_the_request_of_the_readme_is_answered_by_a_sample_copilot():
    samples = (BASE_DIR / "copilot_admin" / "samples" / "copilots.yaml").read_bytes()
    import_file(samples, default_access="open", publishing=True)
    path, headers, body = readme_request()
    events = read(AsyncClient(), path, body, X_Trace_Id=headers["X-Trace-Id"])
    assert events
    assert {name for name, _ in events} <= {"copilotMessageChunk", "copilotStatusUpdate"}


def test_every_template_has_its_row_in_the_document():
    text = (BASE_DIR / "docs" / "templates.md").read_text()
    assert set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)) == set(templates())
