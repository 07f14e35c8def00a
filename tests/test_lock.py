"""Of the locked dependencies it is seen, without a network, that they are what was locked."""

from pathlib import Path
import shutil

import pytest

from tests.lock import ROOT, SOURCES, fault


@pytest.mark.parametrize("name", SOURCES)
def test_the_lines_are_those_that_were_locked_from_their_source(name):
    assert fault(name) == ""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the sources and of what was locked from them."""
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "before", "after"),
    [
        ("pyproject.toml", '"aiohttp>=', '"aiohttp>=9'),
        ("pyproject.toml", "\ndev = [\n", '\ndev = [\n  "one-more",\n'),
        ("requirements/dev.txt", "\nmypy==", "\nmypy==9"),
    ],
)
def test_a_source_or_a_line_that_was_changed_by_hand_is_told(copied, changed, before, after):
    file = copied / changed
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")
    assert fault("dev.txt", copied) == (
        "requirements/dev.txt does not fit pyproject.toml. Run 'make lock'."
    )


def test_a_download_address_is_told(copied):
    with (copied / "requirements" / "run.txt").open("a", encoding="utf-8") as lines:
        lines.write("x @ https://packages.example/x.whl\n")
    assert fault("run.txt", copied) == (
        "requirements/run.txt holds a download address. Run 'make lock'."
    )
