"""Every template is understood; it loads no library and gives no class that nothing uses."""

from pathlib import Path
import re

from django.template import engines
from django.template.library import import_library
import pytest

from copilot_admin.settings import BASE_DIR

FOLDERS = [BASE_DIR / "templates", *sorted((BASE_DIR / "copilot_admin").rglob("templates"))]
TEMPLATES = [
    file
    for folder in FOLDERS
    for kind in ("html", "txt")
    for file in sorted(folder.rglob(f"*.{kind}"))
]
ENGINE = engines["django"].engine  # type: ignore[attr-defined]  # of Django's own backend
LIBRARIES = {name: import_library(module) for name, module in ENGINE.libraries.items()}
STATIC = BASE_DIR / "copilot_admin" / "static" / "copilot_admin"
CLASSES = re.compile(r' class="([^"{]*)"')  # those that are always there
# What is marked, and what no reader sees: remarks, classes and tags of templates.
MARKED_OR_UNSEEN = re.compile(
    r"\{#.*?#\}"
    r"|\{% (?:comment|blocktranslate|block bodyclass|block coltype)\b.*?\{% end(?:comment|blocktranslate|block) %\}"
    r"|\{%.*?%\}|\{\{.*?\}\}",
    re.DOTALL,
)
NO_WORDS = re.compile(r"<(code|pre|kbd|svg)\b.*?</\1>|<[^>]*>|&\w+;", re.DOTALL)
WORD = re.compile(r"[A-Za-z]{2,}")
OF_EVERY_LANGUAGE = frozenset(
    {"UTC", "ms", "CSV", "YAML", "JSON", "cak"}
)  # keys begin with the last
LOADED = re.compile(r"\{% load ([\w ]+?) %\}")


def is_used(library: str, text: str) -> bool:
    """Whether a text has a tag or a filter of a library."""
    tags, filters = (
        map(re.escape, names) for names in (LIBRARIES[library].tags, LIBRARIES[library].filters)
    )
    of_it = rf"\{{% *(?:{'|'.join(tags) or '(?!)'})\b|\|(?:{'|'.join(filters) or '(?!)'})\b"
    return re.search(of_it, text) is not None


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: str(file.relative_to(BASE_DIR)))
def test_what_a_template_loads_is_used_in_it(file: Path):
    text = file.read_text()
    ENGINE.from_string(text)
    loaded = {name for names in LOADED.findall(text) for name in names.split()}
    assert {name for name in loaded if not is_used(name, text)} == set()


def test_each_class_of_ours_is_styled_or_looked_for():
    looked_at = [file for kind in ("css", "js") for file in STATIC.rglob(f"*.{kind}")]
    looked_at += [file for file in (BASE_DIR / "tests").rglob("*.py") if file != Path(__file__)]
    names = {name for file in looked_at for name in re.findall(r"[\w-]+", file.read_text())}
    given = {
        name
        for file in TEMPLATES
        for names in CLASSES.findall(file.read_text())
        for name in names.split()
        if name.startswith("ca-")
    }
    assert len(given) > 100
    assert given - names == set()


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: str(file.relative_to(BASE_DIR)))
def test_each_word_of_a_page_can_be_translated(file: Path):
    words = WORD.findall(NO_WORDS.sub(" ", MARKED_OR_UNSEEN.sub(" ", file.read_text())))
    assert [word for word in words if word not in OF_EVERY_LANGUAGE] == []
