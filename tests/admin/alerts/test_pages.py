"""The pages of alerts: rules of each kind, webhooks with their secret, digests, history, deliveries."""

from datetime import timedelta
from decimal import Decimal
import re

from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.alerts.deliveries import create_deliveries, decrypt_secret
from copilot_admin.alerts.messages import build_test_message
from copilot_admin.alerts.rule_kinds import RULE_KINDS
from copilot_admin.config.roles import Role
from copilot_admin.models import (
    Alert,
    AlertDelivery,
    AlertDigest,
    AlertRule,
    AlertWebhook,
    Copilot,
    Membership,
)
from tests.alerts.alerting import NOON, make_rule, make_webhook
from tests.factories import make_copilot, make_published, make_user

pytestmark = pytest.mark.django_db
BASE = "/admin/copilot_admin"
ADD = f"{BASE}/alertrule/add/?kind=error_rate"
RULE = {
    "name": "Errors",
    "threshold": "10",
    "window": "3h",
    "minimum": "20",
    "copilot": "",
    "tag": "",
    "mails": "A@example.com, b@example.com;\n\n a@EXAMPLE.com ",
    "webhook": "",
    "muted_until": "",
    "enabled": "on",
}
HOSTILE = "<script>alert(1)</script>\u202e"


def errors_of(response) -> dict[str, str | None]:
    """Return the code of the first error of each field."""
    assert response.status_code == 200
    found = response.context["adminform"].form.errors.as_data()
    return {name: errors[0].code for name, errors in found.items()}


class TestRules:
    def test_the_kind_is_chosen_first(self, operator):
        page = operator.get(f"{BASE}/alertrule/add/").content.decode()
        assert re.findall(r'href="\?kind=(\w+)"', page) == list(RULE_KINDS)

    def test_a_rule_is_saved_as_it_was_entered(self, operator):
        copilot = make_published()
        response = operator.post(ADD, {**RULE, "copilot": copilot.pk})
        assert response.status_code == 302
        rule = AlertRule.objects.get()
        assert (rule.kind, rule.threshold, rule.window, rule.minimum) == (
            *("error_rate", Decimal(10), "3h", 20),
        )
        assert (rule.copilot, rule.mails) == (copilot, "a@EXAMPLE.com\nb@example.com")
        assert rule.due_at <= timezone.now()

    @pytest.mark.parametrize(
        ("changes", "field", "code"),
        [
            ({"mails": ""}, "mails", None),
            ({"mails": "desk"}, "mails", "mails"),
            ({"mails": "\n".join(f"a{n}@example.com" for n in range(21))}, "mails", "mails"),
            ({"tag": "a,b"}, "tag", "tag"),
            ({"threshold": "0"}, "threshold", "zero"),
            ({"threshold": "101"}, "threshold", "percent"),
            ({"threshold": "NaN"}, "threshold", "invalid"),
            ({"window": "month"}, "window", "invalid_choice"),
            ({"minimum": "-1"}, "minimum", "min_value"),
            ({"muted_until": "soon"}, "muted_until", "invalid"),
        ],
    )
    def test_errors_are_at_their_fields(self, operator, changes, field, code):
        assert errors_of(operator.post(ADD, {**RULE, **changes})) == {field: code}

    def test_without_a_mail_server_no_new_address_is_accepted(self, operator, settings):
        rule = make_rule(kind="error_rate", window="3h", mails="a@example.com")
        settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
        assert errors_of(operator.post(ADD, RULE)) == {"mails": "no-mail-server"}
        change = f"{BASE}/alertrule/{rule.pk}/change/"
        assert operator.post(change, {**RULE, "mails": "a@example.com"}).status_code == 302

    def test_a_test_goes_to_those_who_are_told(self, operator):
        rule = make_rule(mails="a@example.com\nb@example.com")
        response = operator.post(f"{BASE}/alertrule/{rule.pk}/test/")
        assert response.status_code == 302
        assert set(AlertDelivery.objects.values_list("event", "to")) == {
            ("test", "a@example.com"),
            ("test", "b@example.com"),
        }
        assert operator.post(f"{BASE}/alertrule/999/test/").status_code == 404

    def test_who_may_only_look_sees_a_rule_without_a_form(self, client):
        person = make_user()
        person.user_permissions.add(Permission.objects.get(codename="view_alertrule"))
        client.force_login(person)
        rule = make_rule()
        page = client.get(f"{BASE}/alertrule/{rule.pk}/change/").content.decode()
        assert "desk@example.com" in page
        assert "/test/" not in page
        assert client.post(f"{BASE}/alertrule/{rule.pk}/test/").status_code == 403


class TestWebhooks:
    def test_the_secret_is_shown_once(self, operator):
        posted = {"name": "Chat", "url": "https://hooks.example.com/a"}
        response = operator.post(f"{BASE}/alertwebhook/add/", posted)
        webhook = AlertWebhook.objects.get()
        secret = decrypt_secret(webhook)
        assert secret in response.content.decode()
        assert "no-store" in response["Cache-Control"]
        change = f"{BASE}/alertwebhook/{webhook.pk}/change/"
        for page in (f"{BASE}/alertwebhook/", change, f"{BASE}/alertwebhook/{webhook.pk}/history/"):
            assert secret not in operator.get(page).content.decode()

    def test_a_new_secret_takes_the_place_of_the_old(self, operator):
        webhook, old = make_webhook()
        response = operator.post(f"{BASE}/alertwebhook/{webhook.pk}/secret/")
        webhook.refresh_from_db()
        assert decrypt_secret(webhook) != old
        assert decrypt_secret(webhook) in response.content.decode()

    @pytest.mark.parametrize(
        ("url", "code"),
        [
            ("http://169.254.169.254/latest", "private"),
            ("https://me:secret@hooks.example.com/a", "url"),
            ("hooks.example.com", "url"),
            ("ftp://hooks.example.com", "url"),
            ("https://", "url"),
            ("https://a:99999/", "url"),
            ("https://exa mple.com/", "url"),
            ("https://example.com/" + "a" * 500, "max_length"),
        ],
    )
    def test_a_url_that_is_private_or_not_valid_is_rejected(self, operator, url, code):
        posted = {"name": "Chat", "url": url}
        assert errors_of(operator.post(f"{BASE}/alertwebhook/add/", posted)) == {"url": code}
        assert not AlertWebhook.objects.exists()

    def test_one_that_is_told_is_not_deleted(self, operator):
        webhook, _ = make_webhook()
        rule = make_rule(webhook=webhook)
        address = f"{BASE}/alertwebhook/{webhook.pk}/delete/"
        assert operator.post(address, {"post": "yes"}).status_code == 403
        rule.delete()
        assert operator.post(address, {"post": "yes"}).status_code == 302
        assert not AlertWebhook.objects.exists()


class TestDigests:
    def test_a_digest_is_due_at_its_next_moment_and_can_be_tried(self, operator):
        posted = {"name": "Desk", "weekday": "2", "hour": "9", "mails": "a@example.com"}
        operator.post(f"{BASE}/alertdigest/add/", {**posted, "enabled": "on"})
        digest = AlertDigest.objects.get()
        assert (digest.due_at.weekday(), digest.due_at.hour) == (2, 9)
        assert timezone.now() < digest.due_at <= timezone.now() + timedelta(days=7)
        assert operator.post(f"{BASE}/alertdigest/{digest.pk}/now/").status_code == 302
        assert AlertDelivery.objects.get().digest == digest
        assert "Wednesday, 09:00 UTC" in operator.get(f"{BASE}/alertdigest/").content.decode()


class TestHistory:
    def test_alerts_are_told_apart_by_their_state(self, operator):
        rule = make_rule()
        Alert.objects.create(rule=rule, opened_at=NOON, closed_at=NOON, sentence="Was bad")
        Alert.objects.create(rule=rule, opened_at=NOON, sentence="Is bad")
        found = {
            state: re.findall(r">((?:W|I)as? bad|Is bad)<", page)
            for state in ("open", "closed", "")
            for page in [operator.get(f"{BASE}/alert/?state={state}").content.decode()]
        }
        assert found == {"open": ["Is bad"], "closed": ["Was bad"], "": ["Is bad", "Was bad"]}

    def test_what_is_sent_again_waits_again(self, operator):
        (delivery,) = create_deliveries(make_rule(), build_test_message("Desk", NOON))
        AlertDelivery.objects.update(state="failed", attempts=9)
        assert operator.post(f"{BASE}/alertdelivery/{delivery.pk}/again/").status_code == 302
        delivery.refresh_from_db()
        assert (delivery.state, delivery.attempts) == ("waiting", 0)


class TestWhoMayKnow:
    """Builders see the alerts of their copilots, reviewers those of all; rules are for operators."""

    def seen_by(self, *roles: Role, owns: Copilot | None = None) -> list[str]:
        person = make_user(*roles)
        if owns is not None:
            Membership.objects.create(copilot=owns, user=person, is_owner=True)
        client = Client()
        client.force_login(person)
        rows = client.get(f"{BASE}/alert/").context["cl"].result_list
        for alert in Alert.objects.all():
            found = client.get(f"{BASE}/alert/{alert.pk}/change/").status_code
            assert found == (200 if alert in rows else 302)
        shown = client.get("/admin/settings/").context["navigation"]
        (count,) = [item["count"] for item in shown if item["icon"] == "bell"]
        assert count == len(rows)
        return sorted(alert.sentence for alert in rows)

    def test_builders_know_of_their_copilots_and_reviewers_of_all(self, settings):
        own, other = make_copilot(), make_copilot()
        Copilot.objects.update(is_for_all_builders=False)
        for copilot, said in ((own, "Mine"), (None, "All")):
            rule = make_rule(name=said, copilot=copilot)
            Alert.objects.create(rule=rule, opened_at=NOON, sentence=said)
        settings.MEMBERS = True
        assert self.seen_by(Role.BUILDERS, owns=own) == ["Mine"]
        assert self.seen_by(Role.BUILDERS, owns=other) == []
        assert self.seen_by(Role.REVIEWERS) == ["All", "Mine"]
        settings.MEMBERS = False
        assert self.seen_by(Role.BUILDERS) == ["All", "Mine"]

    def test_a_builder_gets_from_the_alert_to_the_copilot(self):
        copilot = make_copilot()
        alert = Alert.objects.create(rule=make_rule(copilot=copilot), opened_at=NOON)
        client = Client()
        client.force_login(make_user(Role.BUILDERS))
        page = client.get(f"{BASE}/alert/{alert.pk}/change/").content.decode()
        assert f"{BASE}/copilot/{copilot.pk}/change/" in page
        assert f'href="{BASE}/conversation/?' not in page

    def test_who_was_told_is_shown_to_those_who_may_see_deliveries(self, operator):
        alert = Alert.objects.create(rule=make_rule(), opened_at=NOON, sentence="2 down")
        AlertDelivery.objects.create(event="opened", alert=alert, to="ceo@example.com", subject="s")
        page = f"{BASE}/alert/{alert.pk}/change/"
        reviewer = Client()
        reviewer.force_login(make_user(Role.REVIEWERS))
        assert "ceo@example.com" in operator.get(page).content.decode()
        assert "ceo@example.com" not in reviewer.get(page).content.decode()
