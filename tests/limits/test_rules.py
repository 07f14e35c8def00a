"""Which rules hold for a request, and what is said when one has no room."""

from datetime import UTC, timedelta

import pytest

from copilot_admin.copilots.fields.options import LIMITS
from copilot_admin.copilots.fields.values import LimitsEntry
from copilot_admin.limits.book import BOOK
from copilot_admin.limits.demand import Charge, demand_of
from copilot_admin.limits.rules import KINDS, NANO
from copilot_admin.limits.sentences import refusal, seconds_until
from copilot_admin.limits.subjects import Asking, LimitSubject
from copilot_admin.models import LimitScope
from tests.limits.limiting import COPILOT, NOON, SERVER, limited, rule, rules

KEY = LimitSubject(LimitScope.KEY, "7")
EVERY = {scope: LimitSubject(scope) for scope in LimitScope}


def held(**asking: object) -> list[tuple[str, str, int]]:
    found = BOOK.rules_for(Asking(**asking))  # type: ignore[arg-type]
    return [(one.subject.name, one.kind.key, one.most) for one in found]


def test_there_is_a_kind_for_every_measure_and_period():
    assert sorted(KINDS) == sorted(
        ["concurrent"]
        + [f"{of}_per_{of_time}" for of in ("requests", "tokens", "usd")
           for of_time in ("minute", "day", "month")]
    )  # fmt: skip


def test_each_kind_has_its_field_in_files_and_its_label_in_forms():
    assert set(KINDS) == set(LimitsEntry.model_fields) == set(LIMITS)


def test_money_is_counted_in_billionths():
    assert rule(usd_per_month=0.1).most == NANO // 10


def test_what_is_not_set_is_no_limit(settings):
    settings.ANONYMOUS_LIMITS = {}
    assert held(copilot_id=3, address="1.2.3.4") == []


def test_all_that_a_request_belongs_to_limits_it_the_narrowest_first():
    of_each = {
        LimitSubject(LimitScope.ADDRESS, "1.2.3.4"): {"concurrent": 1},
        LimitSubject(LimitScope.USER, "anna"): {"concurrent": 2},
        KEY: {"concurrent": 3},
        COPILOT: {"concurrent": 4},
        SERVER: {"concurrent": 5},
    }
    with limited(of_each):
        assert held(copilot_id=3, key_id=7, user="anna", address="1.2.3.4") == [
            ("address:1.2.3.4", "concurrent", 1),
            ("user:anna", "concurrent", 2),
            ("key:7", "concurrent", 3),
            ("copilot:3", "concurrent", 4),
            ("server:", "concurrent", 5),
        ]
        assert held(key_id=8, user="ben") == [("server:", "concurrent", 5)]


def test_what_has_no_limit_of_a_kind_has_that_of_every_one():
    with limited(
        {EVERY[LimitScope.KEY]: {"concurrent": 3, "tokens_per_day": 9}, KEY: {"concurrent": 5}}
    ):
        assert held(key_id=7) == [("key:7", "concurrent", 5), ("key:7", "tokens_per_day", 9)]
        assert held(key_id=8) == [("key:8", "concurrent", 3), ("key:8", "tokens_per_day", 9)]


def test_strangers_have_limits_by_their_address(settings):
    settings.ANONYMOUS_LIMITS = {"concurrent": 20}
    assert held(address="1.2.3.4") == [("address:1.2.3.4", "concurrent", 20)]
    assert held(address="1.2.3.4", key_id=7) == []
    assert held(address="1.2.3.4", user="anna") == []
    assert held(address="1.2.3.4", is_trial=True) == []
    with limited({EVERY[LimitScope.ADDRESS]: {"concurrent": 2}}):
        assert held(address="1.2.3.4") == [("address:1.2.3.4", "concurrent", 2)]
    with limited({LimitSubject(LimitScope.ADDRESS, "1.2.3.4"): {"concurrent": 1}}):
        assert held(address="1.2.3.4", key_id=7) == [("address:1.2.3.4", "concurrent", 1)]


def test_a_trial_costs_but_is_no_use_and_what_is_no_question_is_only_a_request():
    everything = dict.fromkeys(KINDS, 5)
    with limited({SERVER: everything}):
        of_trial = {key for _, key, _ in held(is_trial=True)}
        of_feedback = {key for _, key, _ in held(is_answered=False)}
    assert of_trial == {key for key in KINDS if key.startswith(("tokens", "usd"))}
    assert of_feedback == {key for key in KINDS if key.startswith("requests")}


@pytest.mark.parametrize(
    ("charge", "added"),
    [
        (
            Charge(tokens=5, nano_usd=7),
            {"tokens_per_day": 5, "usd_per_day": 7, "requests_per_day": 0},
        ),
        (
            Charge(tokens=5, nano_usd=0),
            {"tokens_per_day": 5, "usd_per_day": 0, "requests_per_day": 0},
        ),
    ],
)
def test_an_answer_is_charged_by_what_it_took(charge, added):
    some = demand_of("a", rules(**dict.fromkeys(added, 9)), now=NOON, zone=UTC)
    assert {one.rule.kind.key: charge.on(one) for one in some.budgets} == {
        one.rule.kind.key: (one.key, added[one.rule.kind.key]) for one in some.budgets
    }


def test_an_unknown_cost_is_not_zero():
    [budget] = demand_of("a", rules(usd_per_day=9), now=NOON, zone=UTC).budgets
    assert Charge(tokens=5, nano_usd=None).on(budget) == (budget.unpriced_key, 1)


@pytest.mark.parametrize(
    ("subject", "limits", "again", "sentence"),
    [
        (COPILOT, {"concurrent": 20}, None,
         "This copilot may have 20 answers running at once, and has. Ask again when one has ended."),
        (SERVER, {"concurrent": 1}, None,
         "This server may have 1 answer running at once, and has. Ask again when one has ended."),
        (LimitSubject(LimitScope.ADDRESS, "::1"), {"requests_per_minute": 1200}, 6.2,
         "This address may send 1,200 requests a minute, and has. Ask again in 7 seconds."),
        (SERVER, {"requests_per_minute": 30}, 57,
         "This server may be sent 30 requests a minute, and was. Ask again in 57 seconds."),
        (KEY, {"requests_per_day": 1}, 1,
         "This endpoint key may send 1 request a day, and has. Ask again in one second."),
        (LimitSubject(LimitScope.USER, "anna"), {"tokens_per_day": 5}, 3600,
         "This user has used up its tokens of today. Ask again after 10 March 2026, 13:00 UTC."),
        (COPILOT, {"usd_per_month": 5}, 86400,
         "This copilot has used up its money of this month. Ask again after 11 March 2026, 12:00 UTC."),
        (COPILOT, {"tokens_per_minute": 5}, 120,
         "This copilot has used up its tokens of this minute. Ask again in 120 seconds."),
    ],
)  # fmt: skip
def test_whoever_is_refused_is_told_which_limit_and_when_again(subject, limits, again, sentence):
    when = None if again is None else NOON + timedelta(seconds=again)
    assert refusal(rule(subject, **limits), now=NOON, again=when, zone=UTC) == sentence


@pytest.mark.parametrize(
    ("seconds", "said"), [(-3, 1), (0, 1), (0.2, 1), (1, 1), (1.01, 2), (60, 60)]
)
def test_seconds_to_wait_are_whole_and_never_too_few(seconds, said):
    assert seconds_until(NOON + timedelta(seconds=seconds), NOON) == said


def test_the_log_names_a_subject_by_what_tells_it_apart_and_people_not_at_all():
    subjects = (
        SERVER,
        COPILOT,
        KEY,
        LimitSubject(LimitScope.USER, "anna"),
        LimitSubject(LimitScope.ADDRESS, "::1"),
    )
    assert [one.told for one in subjects] == ["server", COPILOT.name, KEY.name, "user", "address"]
