"""Where people are logged in: shown, and ended."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone
import pytest

from copilot_admin.accounts.log_ins import SWEPT_AT_ONCE, device_words, log_ins_of, sweep_sessions
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


@pytest.mark.parametrize("end", ["", "x", "-1", "9" * 30, "0"])
def test_what_is_no_log_in_of_ones_own_is_not_ended(end):
    ann, bob = browser(make_user()), browser(make_user())
    other = LogIn.objects.get(session_key=bob.session.session_key).pk
    for wanted in (end, other):
        page = ann.post(OWN, {"end": wanted}, follow=True)
        assert "There was nothing to end any more." in page.content.decode()
    assert is_in(bob)


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
    assert [one.session_key for one in log_ins_of(ann)] == [here.session.session_key]


def test_last_seen_moves_on_once_a_minute():
    ann = make_user()
    here = browser(ann)
    long_ago = timezone.now() - timedelta(hours=1)
    LogIn.objects.update(last_seen=long_ago)
    here.get("/admin/")
    assert LogIn.objects.get().last_seen == long_ago
    cache.clear()
    here.get("/admin/")
    assert LogIn.objects.get().last_seen > long_ago


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

    def test_the_page_of_a_person_leads_there(self):
        ann = make_user()
        operator = browser(make_user(Role.OPERATORS))
        page = operator.get(reverse("admin:auth_user_change", args=[ann.pk])).content.decode()
        assert self.url(ann) in page


@pytest.mark.parametrize(
    ("device", "words"),
    [
        (FIREFOX, "Firefox, Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit Chrome/130 Safari/537 Edg/130",
            "Edge, Windows",
        ),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Version/18 Safari/604", "Safari, iPhone"),
        ("something else", "something else"),
        ("", ""),
    ],
)
def test_a_device_is_said_in_a_few_words(device, words):
    assert device_words(device) == words


def test_a_device_that_hides_letters_is_kept_without_them():
    browser(make_user(), device="cu\u202erl\x07/8")
    assert LogIn.objects.get().device == "curl/8"


def test_sessions_whose_time_is_up_are_swept_some_at_a_time_the_oldest_first():
    """Strangers begin log-ins at the firm's provider, each with a session, and leave."""
    here = browser(make_user())
    now = timezone.now()
    Session.objects.bulk_create(
        Session(session_key=f"left-{n}", expire_date=now - timedelta(minutes=n + 1))
        for n in range(SWEPT_AT_ONCE + 1)
    )
    assert sweep_sessions() == SWEPT_AT_ONCE
    keys = set(Session.objects.values_list("session_key", flat=True))
    assert keys == {here.session.session_key, "left-0"}
    assert [sweep_sessions(), sweep_sessions()] == [1, 0]
    assert is_in(here)
