"""A class that docs/architecture.md explains among its words is the only one of that name."""

import re

from copilot_admin.settings import BASE_DIR
from tests.docs.test_doors import modules

_, _, AFTER = (BASE_DIR / "docs" / "architecture.md").read_text().partition("\n## Words\n")
NAMED = set(re.findall(r"`([A-Z][A-Za-z]+)`", AFTER.partition("\n## ")[0]))
# What several rooms once called their own, so that nobody knew of whose was spoken.
ONCE = {"Asked", "Run", "Provider", "Step", "Usage", "Content", "Page", "Reply"}
CLASS = re.compile(r"^(?:class )?([A-Z][A-Za-z]+)(?=[(:]| *: TypeAlias)", re.MULTILINE)


def test_a_word_names_one_class():
    defined = [name for file in modules().values() for name in CLASS.findall(file.read_text())]
    assert {name for name in NAMED if defined.count(name) != 1} == set()
    assert {name for name in ONCE if defined.count(name) > 1} == set()
