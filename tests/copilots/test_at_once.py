"""What people are told before a switch of a published copilot is turned."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.utils import timezone
import pytest

from copilot_admin.copilots.at_once import SwitchStates, consequences, keys_of, switched
from copilot_admin.models import Access, EndpointKey, Logging
from tests.factories import make_copilot, make_key

USUAL = SwitchStates(enabled=True, access=Access.OPEN, logging=Logging.EVERYTHING)
NO_KEY = (
    "Questions without a key are refused from now on, and there is no key yet that opens it: "
    "nobody can ask before one is made."
)


@pytest.mark.parametrize(
    ("before", "after", "keys", "told"),
    [
        ({}, {}, 0, ()),
        (
            {},
            {"enabled": False},
            0,
            (
                "It goes out of the list that Workspace reads, and whoever asks is told that there "
                "is no such copilot. Answers that have begun are finished.",
            ),
        ),
        (
            {"enabled": False},
            {"enabled": True},
            0,
            ("It is in the list again, and the published version answers from now on.",),
        ),
        (
            {"access": Access.KEY},
            {"access": Access.OPEN},
            3,
            ("Everybody who can reach this server may ask it from now on, without a key.",),
        ),
        ({}, {"access": Access.KEY}, 0, (NO_KEY,)),
        (
            {},
            {"access": Access.KEY},
            1,
            ("Questions without a key are refused from now on. One key opens it.",),
        ),
        (
            {},
            {"access": Access.KEY},
            2,
            ("Questions without a key are refused from now on. 2 keys open it.",),
        ),
        (
            {"logging": Logging.NOTHING},
            {"logging": Logging.EVERYTHING},
            0,
            ("What is said from now on can be read in Transcripts.",),
        ),
        (
            {},
            {"logging": Logging.METADATA},
            0,
            (
                "What is said from now on cannot be read in Transcripts; times, tokens and "
                "outcomes can. What was kept before stays.",
            ),
        ),
        (
            {},
            {"access": Access.KEY, "logging": Logging.NOTHING},
            0,
            (
                NO_KEY,
                "Of what is asked from now on, nothing is kept but that it was answered. What was "
                "kept before stays.",
            ),
        ),
    ],
)
def test_each_switch_says_what_it_does(
    before: dict[str, Any], after: dict[str, Any], keys: int, told: tuple[str, ...]
) -> None:
    stands = replace(USUAL, **before)
    assert consequences(stands, replace(stands, **after), keys=keys) == told


@pytest.mark.django_db
def test_the_keys_that_open_a_copilot_are_counted_once() -> None:
    copilot, other = make_copilot(), make_copilot()
    make_key("All")
    make_key("Both", copilots=(copilot, other))
    make_key("Other", copilots=(other,))
    make_key("Expired", expires_at=timezone.now() - timedelta(days=1))
    EndpointKey.objects.filter(pk=make_key("Revoked")[0].pk).update(revoked_at=timezone.now())
    assert keys_of(copilot) == 2
    assert keys_of(other) == 3


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "sentences"),
    [
        (
            {"access": "open", "logging": "everything"},
            ("Everybody who reaches this server may ask.", "Whole conversations are kept."),
        ),
        (
            {"access": "key", "logging": "metadata"},
            (
                "Who has an endpoint key may ask.",
                "Times, tokens and outcomes are kept, not what was said.",
            ),
        ),
        (
            {"access": "key", "logging": "nothing"},
            (
                "Who has an endpoint key may ask.",
                "Nothing is kept but that a question was answered.",
            ),
        ),
    ],
)
def test_how_a_copilot_stands_is_said(values: dict[str, str], sentences: tuple[str, ...]) -> None:
    assert switched(make_copilot(**values)).sentences == sentences
