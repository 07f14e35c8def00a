"""The documents keep their promises: links, files, templates, and commands that people copy."""

from argparse import Namespace
import json
from pathlib import Path
import re
import shlex
import subprocess

from django.core.management import CommandError, get_commands, load_command_class
import pytest

from copilot_admin.agent.providers.registry import PROVIDERS
from copilot_admin.import_export.formats import load
from copilot_admin.import_export.importing import import_file
from copilot_admin.import_export.templates import TemplateGroup, templates
from copilot_admin.settings import BASE_DIR
from tests.component_calls.component_http import ask
from tests.factories import make_key
from tests.polling import HANGS_SECONDS

TEMPLATE_PAGES = sorted((BASE_DIR / "docs" / "templates").glob("*.md"))
PAGES = sorted((BASE_DIR / "docs").glob("*.md"))
DECISIONS = sorted((BASE_DIR / "docs" / "adr").glob("*.md"))
DOCUMENTS = [BASE_DIR / "README.md", *PAGES, *DECISIONS, *TEMPLATE_PAGES]
LINK = re.compile(r"\]\(([^)\s#]*)#?([^)\s]*)\)")
FILE = re.compile(r"`((?:copilot_admin|protocol|tests|docs|templates|benchmarks)/[\w./-]+)`")
PATH = re.compile(r"`([\w./-]+(?:\.(?:py|js|css|html|md|toml)|/))`")
COPILOTS_PAGE, PROVIDERS_PAGE = (
    (BASE_DIR / "docs" / f"{name}.md").read_text() for name in ("copilots", "providers")
)
BLOCK = re.compile(r"```.*?```", re.DOTALL)


@pytest.mark.parametrize("name", ["architecture", "extending"])
def test_every_path_of_a_page_about_the_code_exists(name: str):
    """Paths may leave out `copilot_admin/`; those of future files are introduced by "Save as"."""
    text = (BASE_DIR / "docs" / f"{name}.md").read_text()
    paths = set(PATH.findall(re.sub(r"^Save as .*$", "", text, flags=re.MULTILINE)))
    roots = (BASE_DIR, BASE_DIR / "copilot_admin")
    assert len(paths) > 30
    assert [path for path in sorted(paths) if not any((one / path).exists() for one in roots)] == []


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings as GitHub makes them, and "" for the page itself."""
    headings = re.findall(
        r"^#+ (.*)$", page.read_text() if page.suffix == ".md" else "", re.MULTILINE
    )
    return {"", *(re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings)}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
class TestEveryDocument:
    def test_its_links_lead_somewhere(self, document: Path):
        missing = []
        for path, anchor in LINK.findall(document.read_text()):
            target = document.parent / path if path else document
            if "://" not in path and not (target.exists() and anchor in anchors_of(target)):
                missing.append(f"{path}#{anchor}")
        assert missing == []

    def test_the_files_that_it_names_exist(self, document: Path):
        missing = [
            name
            for name in FILE.findall(re.sub("Save as `.*`", "", document.read_text()))
            if not (BASE_DIR / name).exists()
        ]
        assert missing == []


def request_in(document: str) -> tuple[str, dict[str, str], dict[str, object]]:
    """Path, headers and body of a document's curl."""
    block = next(
        block
        for block in re.findall(r"```sh\n(.*?)```", (BASE_DIR / document).read_text(), re.DOTALL)
        if block.startswith("curl")
    )
    words = shlex.split(block.replace("\\\n", " "))
    path = next(word for word in words if word.startswith("http://127.0.0.1:7777"))
    rows = [words[index + 1].split(": ", 1) for index, word in enumerate(words) if word == "-H"]
    body = json.loads(words[words.index("-d") + 1])
    return path.removeprefix("http://127.0.0.1:7777"), dict(rows), body


@pytest.mark.django_db(transaction=True)
def test_the_request_of_the_components_page_is_answered():
    path, headers, body = request_in("docs/components.md")
    assert headers.pop("Authorization") == "Bearer KEY"
    reply = ask(path.removeprefix("/v2/components"), body, key=make_key()[1])
    assert (reply.status, reply.words) == (200, "220")


@pytest.mark.django_db
def test_the_copilot_file_of_the_copilots_page_can_be_imported():
    (file,) = re.findall(r"```yaml\n(format.*?)```", COPILOTS_PAGE, re.DOTALL)
    changes = import_file(file.encode(), default_access="open", publishing=True)
    assert [change.name for change in changes] == [
        "provider Desk models",
        "copilot morning-desk",
    ]


def test_the_kinds_of_providers_are_named_as_in_files():
    rows = re.findall(r"^\| [\w -]+, `(\w+)` \|", PROVIDERS_PAGE, re.MULTILINE)
    assert rows == [provider.kind for provider in PROVIDERS]


def test_every_template_has_its_row_and_its_page():
    text = (BASE_DIR / "docs" / "templates.md").read_text()
    rows = re.findall(r"^\| \[`([\w-]+)`\]\(templates/([\w-]+)\.md\) \|", text, re.MULTILINE)
    assert [slug for slug, _ in rows] == [page for _, page in rows]
    jobs = set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE))
    assert {slug for slug, _ in rows} | jobs == set(templates())
    assert jobs == {one.slug for one in templates().values() if one.group is TemplateGroup.JOBS}
    assert {page.stem for page in TEMPLATE_PAGES} == set(templates()) - jobs


TEXTS = ("name", "description", "system_prompt", "starters", "questions")


@pytest.mark.parametrize("page", TEMPLATE_PAGES, ids=lambda path: path.stem)
class TestEveryTemplatePage:
    def test_its_switches_are_those_of_the_template(self, page: Path):
        entry = templates()[page.stem].entry
        (block,) = re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
        assert load(block.encode()) == {key: entry[key] for key in entry if key not in TEXTS}

    def test_its_questions_are_those_of_the_template(self, page: Path):
        asked = re.findall(r"^> (.*)$", page.read_text(), re.MULTILINE)
        assert asked
        assert set(asked) <= set(templates()[page.stem].starters)


README = (BASE_DIR / "README.md").read_text()
OURS = "http://127.0.0.1:7777"
QUOTED = re.compile(r"`manage\.py ([a-z_]+ [^`]+)`")
TYPED = re.compile(r"^ *(?:\S+ )*\.venv/bin/python manage\.py (.+)$", re.MULTILINE)
ALL_TEXTS = [document.read_text() for document in DOCUMENTS]
NAMED = {line for text in ALL_TEXTS for line in QUOTED.findall(BLOCK.sub("", text))}
# Without where their output goes, and what is said of them.
COPIED = {
    re.split(r" [>|#&;\\]", line)[0].strip() for text in ALL_TEXTS for line in TYPED.findall(text)
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
