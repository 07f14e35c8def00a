"""The start page begins with what needs attention, for those who may see it."""

from collections.abc import Callable
from datetime import timedelta

from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.admin.limits import usage
from copilot_admin.admin.limits.usage import RuleUsage
from copilot_admin.admin.site.attention import attention
from copilot_admin.config.roles import Role
from copilot_admin.models import Alert, SubjectLimits
from copilot_admin.models.limits import LimitScope
from tests.alerts.alerting import make_rule
from tests.factories import make_copilot, make_key, make_provider, make_user

ADMIN = "/admin/copilot_admin"


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Says how much of each limit is used."""

    def set_to(number: int) -> None:
        monkeypatch.setattr(
            usage, "measure_usage", lambda rules: dict.fromkeys(rules, RuleUsage(number))
        )

    return set_to


@pytest.mark.django_db
class TestAttention:
    def test_open_alerts_lead_to_the_one_or_to_the_list(self) -> None:
        operator, now = make_user(Role.OPERATORS), timezone.now()
        Alert.objects.create(rule=make_rule(), opened_at=now, closed_at=now, sentence="over")
        alert = Alert.objects.create(rule=make_rule(), opened_at=now, sentence="5 thumbs down")
        (step,) = attention(operator)
        assert (step.title, step.sentence, step.url) == (
            "An alert is open",
            "5 thumbs down",
            f"{ADMIN}/alert/{alert.pk}/change/",
        )
        Alert.objects.create(rule=make_rule(), opened_at=now, sentence="newest")
        (step,) = attention(operator)
        assert (step.title, step.sentence, step.url) == (
            "2 alerts are open",
            "newest",
            f"{ADMIN}/alert/?state=open",
        )
        assert attention(make_user(Role.PUBLISHERS)) == []

    def test_limits_from_80_per_cent_on_are_named_the_fullest_first(self, used) -> None:
        make_copilot(name="Macro", limits={"requests_per_day": 10})
        key, _ = make_key("Desk")
        for scope, id, most in (
            (LimitScope.KEY, str(key.pk), 8),
            (LimitScope.USER, "", 1),
            (LimitScope.SERVER, "", 11),
        ):
            limits = {"requests_per_day": most, "requests_per_minute": 1000}
            SubjectLimits.objects.create(scope=scope, subject=id, limits=limits)
        operator = make_user(Role.OPERATORS)
        used(8)
        (step,) = attention(operator)
        assert (step.title, step.url) == ("2 limits are nearly reached", "/admin/limits/")
        assert str(step.sentence).startswith("Desk")
        assert str(step.sentence).endswith("(100 %), Macro (80 %)")
        used(7)
        (step,) = attention(operator)
        assert (step.title, step.button) == ("A limit is nearly reached", "Look at it")
        used(1)
        assert attention(operator) == []

    def test_keys_that_end_soon_and_those_that_are_missing_are_named(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        operator, now = make_user(Role.OPERATORS), timezone.now()
        make_key("Over", expires_at=now - timedelta(days=1))
        make_key("Later", expires_at=now + timedelta(days=15))
        assert attention(operator) == []
        make_key("Desk", expires_at=now + timedelta(days=13))
        make_key("First", expires_at=now + timedelta(days=2))
        make_provider(name="Other", api_key_env="PATH")
        make_provider(name="Unset", api_key_env="COPILOT_KEY_NOT_SET")
        missing, ending = attention(operator)
        assert (missing.title, missing.url) == (
            "2 providers have no key",
            f"{ADMIN}/provider/",
        )
        assert "'Other' may not use the variable PATH" in str(missing.sentence)
        assert "COPILOT_KEY_NOT_SET, which is not set" in str(missing.sentence)
        assert (ending.title, ending.url) == (
            "2 endpoint keys end soon",
            f"{ADMIN}/endpointkey/",
        )
        assert str(ending.sentence).startswith("First, Desk. Make others")
        assert attention(make_user(Role.BUILDERS)) == []

    def test_the_page_shows_it(self) -> None:
        Alert.objects.create(rule=make_rule(), opened_at=timezone.now(), sentence="<b>5</b> down")
        browser = Client()
        browser.force_login(make_user(Role.OPERATORS))
        assert "&lt;b&gt;5&lt;/b&gt; down" in browser.get("/admin/").text

    @pytest.mark.parametrize(
        ("role", "page", "expected"),
        [
            (Role.OPERATORS, "limits/", True),
            (Role.AUDITORS, "limits/", True),
            (Role.BUILDERS, "limits/", False),
        ],
    )
    def test_limits_are_seen_by_who_may_and_changed_by_operators(
        self, role: Role, page: str, expected: bool
    ) -> None:
        browser = Client()
        browser.force_login(make_user(role))
        answer = browser.get(f"/admin/{page}")
        assert answer.status_code == (200 if expected else 403)
        assert ("Set limits" in answer.text) == (role is Role.OPERATORS)
