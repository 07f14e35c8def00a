"""A change is put into functions that are there, and only where nothing else shows it."""

import gc
from pathlib import Path
import sys
from types import ModuleType

import pytest

from tests.mutants.swapping import NotSwappable, functions_there, swaps

pytestmark = pytest.mark.nightly  # `make mutants` is not run by day either

BEFORE = """
from functools import cache, wraps

LIMIT = 10


def loud(said):
    @wraps(said)
    def louder(*words):
        return said(*words) + "!"

    return louder


@loud
def greeting(name, word="Hello"):
    def whole():
        return word + " " + name

    return whole()


class Shop:
    OPEN = [hour for hour in range(3)]

    def price(self, number):
        return number * LIMIT


def forgotten():
    return 1


del forgotten
"""


@pytest.fixture
def shop(tmp_path: Path) -> ModuleType:
    module = ModuleType("shop")
    exec(compile(BEFORE, str(tmp_path / "shop.py"), "exec", dont_inherit=True), vars(module))  # noqa: S102
    return module


def change(path: Path, old: str, new: str) -> None:
    assert old in BEFORE
    try:
        before, after = BEFORE.encode(), BEFORE.replace(old, new).encode()
        for function, code in swaps(str(path), before, after, functions_there()):
            function.__code__ = code
    finally:
        gc.unfreeze()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("number * LIMIT", "number * 2", ("Hello Ann!", 6)),
        ('word + " "', 'word + "\\n\\n"', ("Hello\n\nAnn!", 30)),
        ("    return whole()", "    name = 'Bob'\n\n    return whole()", ("Hello Bob!", 30)),
    ],
)
def test_a_function_does_what_it_does_after_a_change(
    shop: ModuleType, tmp_path: Path, old: str, new: str, said: tuple[str, int]
) -> None:
    change(tmp_path / "shop.py", old, new)
    assert (shop.greeting("Ann"), shop.Shop().price(3)) == said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 10", "LIMIT = 11"),
        ('word="Hello"', 'word="Bye"'),
        ("range(3)", "range(4)"),
        ("hour for", "hour + 1 for"),
        ('+ "!"', '+ "?"'),  # of that there is one already
        ("return 1", "return 2"),  # nobody has it any longer
        ("del forgotten", "pass"),
    ],
)
def test_what_only_an_import_shows_is_not_put_into_anything(
    shop: ModuleType, tmp_path: Path, old: str, new: str
) -> None:
    with pytest.raises(NotSwappable):
        change(tmp_path / "shop.py", old, new)
    assert (shop.greeting("Ann"), shop.Shop().price(3)) == ("Hello Ann!", 30)


def test_a_function_of_another_file_is_another(shop: ModuleType) -> None:
    with pytest.raises(NotSwappable):
        change(Path(sys.prefix) / "shop.py", "number * LIMIT", "number * 2")
