"""Where people are logged in: shown, and ended."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
import pytest

from copilot_admin.accounts.sessions import active_sessions
from copilot_admin.config.roles import Role
from copilot_admin.models import LogIn
from tests.factories import make_user

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
OWN = "/admin/log-ins/"


def browser(user: User, *, address: str = "192.0.2.1", device: str = FIREFOX) -> Client:
    client = Client(REMOTE_ADDR=address, HTTP_USER_AGENT=device)
    values = {"username": user.username, "password": "secret"}
    assert client.post(reverse("admin:login"), values).status_code == 302
    return client


def is_in(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


@pytest.mark.parametrize("elsewhere", ["", "https://evil.example/", "//evil.example"])
def test_who_was_to_go_elsewhere_after_the_log_in_is_led_to_the_start_page(elsewhere):
    values = {"username": make_user().username, "password": "secret", "next": elsewhere}
    answer = Client().post(reverse("admin:login"), values)
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")


def test_each_browser_is_shown_with_device_and_address_this_one_first():
    ann = make_user()
    browser(ann, address="198.51.100.7", device="curl/8.1")
    here = browser(ann)
    rows = here.get(OWN).context["rows"]
    assert [(row.device, row.address, row.is_this) for row in rows] == [
        ("Firefox, Linux", "192.0.2.1", True),
        ("curl", "198.51.100.7", False),
    ]
    browser(make_user())
    assert len(here.get(OWN).context["rows"]) == 2


def test_one_is_ended_and_then_all_others():
    ann = make_user()
    here, second, third, fourth = (browser(ann) for _ in range(4))
    number = LogIn.objects.get(session_key=second.session.session_key).pk
    assert here.post(OWN, {"end": number}).status_code == 302
    assert [is_in(one) for one in (here, second, third, fourth)] == [True, False, True, True]
    page = here.post(OWN, {"end": "others"}, follow=True)
    assert "2 log-ins were ended." in page.content.decode()
    assert [is_in(one) for one in (here, second, third, fourth)] == [True, False, False, False]


def test_logging_out_forgets_it():
    ann = make_user()
    browser(ann).post(reverse("admin:logout"))
    assert not LogIn.objects.exists()


def test_a_new_password_ends_the_others_and_keeps_this_one():
    ann = make_user()
    here, other = browser(ann), browser(ann)
    typed = {
        "old_password": "secret",
        "new_password1": "a-new-passphrase",
        "new_password2": "a-new-passphrase",
    }
    assert here.post(reverse("admin:password_change"), typed).status_code == 302
    assert (is_in(here), is_in(other)) == (True, False)
    ann.refresh_from_db()
    assert [one.session_key for one in active_sessions(ann)] == [here.session.session_key]


def test_what_is_long_gone_is_forgotten_with_the_next_log_in():
    ann = make_user()
    browser(ann)
    LogIn.objects.update(last_seen=timezone.now() - timedelta(days=31))
    browser(ann)
    assert LogIn.objects.count() == 1


class TestOfOthers:
    def url(self, user: User) -> str:
        return reverse("admin:auth_user_log_ins", args=[user.pk])

    def test_an_operator_ends_those_of_who_may_do_no_more_than_he(self):
        operator, ann = browser(make_user(Role.OPERATORS)), make_user()
        theirs = browser(ann)
        assert len(operator.get(self.url(ann)).context["rows"]) == 1
        operator.post(self.url(ann), {"end": "others"})
        assert (is_in(theirs), is_in(operator)) == (False, True)

    @pytest.mark.parametrize("mighty", [{"is_superuser": True}, {"groups": [Role.REVIEWERS]}])
    def test_but_of_nobody_who_may_do_more(self, mighty):
        person = make_user(*mighty.pop("groups", []), **mighty)
        theirs = browser(person)
        operator = browser(make_user(Role.OPERATORS))
        assert operator.get(self.url(person)).status_code == 403
        assert operator.post(self.url(person), {"end": "others"}).status_code == 403
        assert is_in(theirs)

    @pytest.mark.parametrize("role", [Role.BUILDERS, Role.REVIEWERS, Role.AUDITORS])
    def test_other_roles_look_at_nobodys(self, role):
        assert browser(make_user(role)).get(self.url(make_user())).status_code == 403
