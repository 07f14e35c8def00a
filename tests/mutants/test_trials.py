"""A small product is tried; and the product itself has what is to be tried."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile

import pytest

from tests.mutants import trial
from tests.mutants.__main__ import ROOT
from tests.mutants.pytest_plugins import Limits
from tests.mutants.rooms import COPILOT_ADMIN, ByHand, Room
from tests.mutants.trial import Outcome

pytestmark = pytest.mark.nightly  # `make mutants` is not run by day either

SHOP = {
    "pytest.ini": "[pytest]\n",
    "shop/__init__.py": "",
    "shop/prices.py": """
LIMIT = 10


def price(number: int) -> int:
    if number > LIMIT:
        return number * 2
    return number * 3


def discount() -> bool:
    return True
""",
    "shop/sums.py": "def double(number: int) -> int:\n    return number + number\n",
    "checks/test_prices.py": """
from shop.prices import price
from shop.sums import double


def test_many_are_cheaper():
    assert price(11) == 22


def test_few_are_not():
    assert price(double(2)) == 12
""",
}
RUN = """
from pathlib import Path
import sys
from tests.mutants.__main__ import main
from tests.mutants.rooms import ByHand, Product, Room

tests = ("checks",)
room = Room(name="sums", sources=("shop/sums.py",), tests=tests)
changes = {changes}
by_hand = tuple(ByHand(file="shop/prices.py", old=a, new=b, tests=tests) for a, b in changes)
product = Product(packages=("shop",), rooms=(room,), by_hand=by_hand)
sys.exit(main(["--seed", "1"], product=product, root=Path({root!r})))
"""


def tried(root: Path, *changes: tuple[str, str]) -> tuple[int, str]:
    """Tries changes of the shop; gives the status and what was said."""
    for name, text in SHOP.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(changes=changes, root=str(root))],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_what_no_test_notices_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    status, said = tried(
        tmp_path,
        ("number * 2", "number * 4"),
        ("number > LIMIT", "number >= LIMIT"),
        ("return True", "return False"),
        ("number * 3", "__import__('signal').raise_signal(14)"),
        ("LIMIT = 10", "LIMIT = ten"),
    )
    assert said.splitlines() == [
        "Seed 1: `--seed 1` repeats this choice.",
        "shop/prices.py:12 (by hand) no test runs this line",
        "- return True",
        "+ return False",
        "",
        "shop/prices.py:6 (by hand) 2 tests ran: 2 of checks/test_prices.py",
        "- if number > LIMIT:",
        "+ if number >= LIMIT:",
        "",
        "room        tried  killed  by time  survived  not run  no program    share",
        "by hand         5       1        1         1        1           1   50.0 %",
        "sums            1       1        0         0        0           0  100.0 %",
        "all             6       2        1         1        1           1   60.0 %",
        "FAILED: a change that is always tried was not noticed.",
    ]
    assert status == 1
    assert {name: (tmp_path / name).read_text() for name in SHOP} == SHOP


def test_a_product_whose_changes_are_all_noticed_is_good_enough(tmp_path: Path) -> None:
    status, said = tried(tmp_path, ("number * 2", "number * 4"))
    assert (status, said.splitlines()[-1]) == (0, "Enough was noticed.")


def test_tests_that_fail_without_a_change_are_told(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import nothing_that_is_there\n")
    status, said = tried(tmp_path)
    assert status == 1
    assert "Tests fail although nothing is changed. sums: " in said
    assert "nothing_that_is_there" in said


def outcome(monkeypatch: pytest.MonkeyPatch, root: Path, work: str) -> tuple[Outcome, int]:
    """What becomes of a trial whose tests do something; and how often it was begun."""
    monkeypatch.setattr(trial, "START_SECONDS", (0.05, 0.05))
    tries = root / "tries"

    def run() -> int:
        with tries.open("a") as file:
            file.write("x")
        if work == "begins" or (work == "begins late" and tries.read_text() == "xx"):
            (Path(tempfile.gettempdir()) / trial.BEGUN).touch()
        signal.pause()
        return 0

    return trial.outcome_of(root, run), len(tries.read_text())


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        ("begins", (Outcome.TIMED_OUT, 1)),
        ("begins late", (Outcome.TIMED_OUT, 2)),
        ("begins never", (Outcome.BROKEN, 2)),
    ],
)
def test_a_run_that_begins_no_test_in_time_is_repeated_and_says_nothing(
    work: str, expected: tuple[Outcome, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert outcome(monkeypatch, tmp_path, work) == expected


def test_a_test_may_take_a_while_longer_than_without_a_change(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    armed: list[tuple[int, float]] = []
    monkeypatch.setattr(signal, "setitimer", lambda which, after: armed.append((which, after)))
    limits = Limits({request.node.nodeid: 2.0}, times=10, at_least=15, begun=tmp_path / "begun")
    next(limits.pytest_runtest_protocol(request.node))
    assert armed == [(signal.ITIMER_REAL, 35.0)]


@pytest.mark.parametrize("room", COPILOT_ADMIN.rooms, ids=lambda room: room.name)
def test_every_room_is_there(room: Room) -> None:
    assert [one for one in (*room.sources, *room.tests) if not (ROOT / one).exists()] == []
    assert room.files(ROOT) != []


@pytest.mark.parametrize("change", COPILOT_ADMIN.by_hand, ids=lambda change: change.file)
def test_every_change_by_hand_can_still_be_made(change: ByHand) -> None:
    room, mutation = change.task(ROOT)
    assert all((ROOT / one).exists() for one in room.tests)
    changed = mutation.edit.applied((ROOT / change.file).read_bytes())
    compile(changed, change.file, "exec")
    # One that names what is not there breaks any test, whatever that is about.
    command = ("ruff", "check", "--isolated", "--select", "F821", "-")
    looked = subprocess.run([sys.executable, "-m", *command], input=changed, capture_output=True)
    assert looked.returncode == 0, looked.stdout.decode()


def test_a_change_by_hand_that_cannot_be_made_is_told() -> None:
    change = ByHand(file="tests/mutants/rooms.py", old="nothing like it" * 2, new="", tests=())
    with pytest.raises(ValueError, match="does not say"):
        change.task(ROOT)
