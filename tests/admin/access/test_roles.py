"""Who may do what: every address of the admin, asked by every role."""

from collections.abc import Iterator
import re
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse
from django.utils import timezone
import pytest

from copilot_admin.admin.site.site import site
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.config.roles import Role
from copilot_admin.models import (
    Action,
    Alert,
    AlertDelivery,
    AlertDigest,
    AlertRule,
    AlertWebhook,
    AuditEntry,
    AuditHead,
    Conversation,
    Criterion,
    HiddenNotice,
    LegalHold,
    ModelPrice,
    Provider,
    ReviewQueue,
    SavedView,
)
from tests.admin.pages import merged, read_form
from tests.factories import make_call, make_copilot, make_key, make_published, make_user, sign_in
from tests.transcripts.exports.exporting import begun

pytestmark = pytest.mark.django_db

# Each of these owns pages; who reads or publishes is looked at below.
ROLES = (Role.BUILDERS, Role.OPERATORS, Role.REVIEWERS, "nobody")
# Pages for everybody who may log in.
SHARED = frozenset(
    f"admin:{name}"
    for name in [
        "index",
        "login",
        "logout",
        "password_change",
        "password_change_done",
        "jsi18n",
        "app_list",
        "view_on_site",
        "autocomplete",
        "find",
        "settings",
        "hide_checklist",
    ]
)
OWNERS = {
    "copilot_admin_copilot": Role.BUILDERS,
    "copilot_admin_provider": Role.OPERATORS,
    "copilot_admin_endpointkey": Role.OPERATORS,
    "copilot_admin_modelprice": Role.OPERATORS,
    "copilot_admin_conversation": Role.REVIEWERS,
    "copilot_admin_componentcall": Role.REVIEWERS,
    "copilot_admin_reviewqueue": Role.REVIEWERS,
    "copilot_admin_transcriptexport": Role.REVIEWERS,
    "copilot_admin_criterion": Role.OPERATORS,
    "analytics": Role.REVIEWERS,
    "component": Role.BUILDERS,
    "components": Role.BUILDERS,
    "limits": Role.OPERATORS,
    "copilot_admin_auditentry": Role.AUDITORS,
    "jobs": Role.OPERATORS,
    "demo": Role.BUILDERS,
    "copilot_admin_alertrule": Role.OPERATORS,
    "copilot_admin_alertwebhook": Role.OPERATORS,
    "copilot_admin_alertdigest": Role.OPERATORS,
    "copilot_admin_alertdelivery": Role.OPERATORS,
    "copilot_admin_alert": Role.OPERATORS,
    "privacy": Role.OPERATORS,
    "auth_user": Role.OPERATORS,
    "auth_group": Role.OPERATORS,
}
# Pages that others may read too.
ALSO = {
    "admin:copilot_admin_alert_changelist": {Role.BUILDERS, Role.REVIEWERS},
    "admin:copilot_admin_alert_change": {Role.BUILDERS, Role.REVIEWERS},
    "admin:copilot_admin_alert_history": {Role.BUILDERS, Role.REVIEWERS},
}
# Builders read the conversations and analytics of the copilots they are members of.
ALSO |= {f"admin:{name}": {Role.BUILDERS} for name in ("analytics", "analytics_card")}
ALSO |= {
    f"admin:copilot_admin_conversation_{name}": {Role.BUILDERS}
    for name in [
        "changelist",
        "change",
        "history",
        "bulk",
        "columns",
        "view_save",
        "view_rename",
        "view_delete",
        "row",
        "panel",
        "chat",
        "adjacent",
        "part",
        "turn",
        "trace",
        "question",
        "run",
        "prompt",
        "request",
        "curl",
    ]
}
# Pages of a role other than the owner.
ONLY = {f"admin:copilot_admin_conversation_{name}": {Role.BUILDERS} for name in ("learn", "keep")}
# Pages that even the role that owns the thing may not open.
CLOSED = frozenset(
    f"admin:{name}"
    for name in (
        "privacy_erase",  # no role may: it is given to people by name
        *("auth_group_add", "auth_group_delete", "copilot_admin_auditentry_history"),
        *(f"copilot_admin_{model}_delete" for model in ("endpointkey", "reviewqueue", "criterion")),
        "copilot_admin_transcriptexport_delete",
        *(
            f"copilot_admin_{model}_{verb}"
            for model in ("conversation", "componentcall", "auditentry", "alert", "alertdelivery")
            for verb in ("add", "delete")
        ),
    )
)
READ_ONLY = frozenset(
    ("post", f"admin:{name}_change")
    for name in (
        "auth_group",
        *(f"copilot_admin_{model}" for model in ("componentcall", "alert", "alertdelivery")),
    )
)


def addresses() -> list[tuple[str, str]]:
    """Name and route of every view of the site."""
    return sorted(set(_walk(site.get_urls(), "")))


def _walk(patterns: list[Any], prefix: str) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        match pattern:
            case URLResolver():
                yield from _walk(pattern.url_patterns, route)
            case URLPattern():
                yield f"admin:{pattern.name}", route


ADDRESSES = [
    (name, route) for name, route in addresses() if name != "admin:None" and "wildcard" not in name
]


def owner_of(name: str) -> Role | None:
    """The role whose page this is."""
    model = next((model for model in OWNERS if f"{name}_".startswith(f"admin:{model}_")), None)
    return OWNERS[model] if model else None


@pytest.fixture
def things() -> dict[str, str]:
    """One row of everything, by the start of the address name."""
    copilot = make_published()
    key, _ = make_key()
    now = timezone.now()
    conversation = Conversation.objects.create(
        copilot=copilot, principal="anonymous", first_at=now, last_at=now
    )
    rule = AlertRule.objects.create(name="Thumbs", kind="thumbs_down", threshold=1, window="24h")
    alert = Alert.objects.create(rule=rule, opened_at=now, sentence="2 thumbs down")
    delivery = AlertDelivery.objects.create(
        event="opened", alert=alert, subject="Thumbs", body="2 thumbs down"
    )
    LegalHold.objects.create(pk=copilot.pk, principal="nobody", reason="r")
    person = make_user()  # of whom an operator may do everything
    return {
        "copilot_admin_copilot": str(copilot.pk),
        "privacy": str(copilot.pk),
        "copilot_admin_provider": str(copilot.provider_id),
        "copilot_admin_endpointkey": str(key.pk),
        "copilot_admin_modelprice": str(ModelPrice.objects.get().pk),
        "copilot_admin_conversation": str(conversation.pk),
        "copilot_admin_reviewqueue": str(ReviewQueue.objects.create(name="Week").pk),
        "copilot_admin_transcriptexport": str(begun(owner=person).pk),
        "copilot_admin_criterion": str(Criterion.objects.create(name="Wrong").pk),
        "copilot_admin_componentcall": str(make_call().pk),
        "copilot_admin_alertrule": str(rule.pk),
        "copilot_admin_alertwebhook": str(AlertWebhook.objects.create(name="Hook").pk),
        "copilot_admin_alertdigest": str(AlertDigest.objects.create(name="Desk").pk),
        "copilot_admin_alertdelivery": str(delivery.pk),
        "copilot_admin_alert": str(alert.pk),
        "auth_user": str(person.pk),
        "copilot_admin_auditentry": str(
            record(Action.READ, by=Actor.server(), on=Subject("copilot")).pk
        ),
        "auth_group": str(Group.objects.get(name=Role.BUILDERS).pk),
    }


def url_of(name: str, route: str, things: dict[str, str]) -> str:
    """An address with the id of a row that exists."""
    model = next((model for model in OWNERS if name.startswith(f"admin:{model}_")), "")
    if name == "admin:app_list":
        return "/admin/copilot_admin/"
    first_version = route.replace("versions/<id:number>", "versions/1")  # its number is no id
    of_run = first_version.replace("<uuid:run>", str(UUID(int=1)))
    filled = re.sub(r"<[^>]*>", things.get(model, "1"), of_run)
    return "/admin/" + filled


def browser(role: str, **options: Any) -> Client:
    """The browser of somebody with one role."""
    return sign_in(make_user() if role == "nobody" else make_user(role), **options)


def test_every_address_has_an_owner_or_is_shared() -> None:
    ownerless = [name for name, _ in ADDRESSES if owner_of(name) is None and name not in SHARED]
    assert ownerless == []
    assert len(ADDRESSES) > 30


@pytest.mark.usefixtures("short_refusals", "statuses_alone", "same_person")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("method", ["get", "post"])
def test_every_address_is_open_to_its_role_and_closed_to_the_others(
    things: dict[str, str], role: str, method: str
) -> None:
    client = browser(role)
    wrong = []
    for name, route in ADDRESSES:
        if owner_of(name) is None:
            continue
        may = role in ONLY.get(name, {owner_of(name), *ALSO.get(name, ())})
        may = may and name not in CLOSED and (method, name) not in READ_ONLY
        status = getattr(client, method)(url_of(name, route, things)).status_code
        refused = status == 403 or (status == 405 and not may)  # 405 tells a stranger nothing
        if refused is may or status >= 500:
            wrong.append((name, status))
    assert wrong == []


@pytest.mark.parametrize("method", ["get", "post"])
def test_strangers_are_sent_to_the_login(things: dict[str, str], method: str) -> None:
    for name, route in ADDRESSES:
        if name in ("admin:login", "admin:logout", "admin:jsi18n", "admin:emergency"):
            continue
        response = getattr(Client(), method)(url_of(name, route, things))
        assert response.status_code == 302, name
        assert response["Location"].startswith("/admin/login/"), name


@pytest.mark.usefixtures("same_person")
def test_every_change_wants_a_csrf_token(things: dict[str, str]) -> None:
    client = sign_in(make_user(is_superuser=True), enforce_csrf_checks=True)
    for name, route in ADDRESSES:
        if name == "admin:jsi18n":
            continue
        response = client.post(url_of(name, route, things))
        assert response.status_code == 403, name


WITHIN = [(name, route) for name, route in ADDRESSES if name != "admin:logout"]
READABLE = ("changelist", "change", "history", "versions", "compare", "tests")


ASIDE = (AuditEntry, AuditHead, HiddenNotice, SavedView)


def everything() -> list[Any]:
    """All rows but sessions, bookmarks, hidden notices and the trail of who looked."""
    models = list(apps.get_app_config("copilot_admin").get_models())
    mine: list[Any] = [*(one for one in models if one not in ASIDE), User, Group]
    return [list(model._default_manager.order_by("pk").values()) for model in mine]


@pytest.mark.usefixtures("short_refusals", "statuses_alone", "same_person")
def test_auditors_read_what_any_role_reads_and_change_nothing(things: dict[str, str]) -> None:
    client = browser(Role.AUDITORS)
    before = everything()
    closed = []
    for name, route in WITHIN:
        url = url_of(name, route, things)
        status = client.get(url).status_code
        assert status < 500, name
        if name.rpartition("_")[2] in READABLE and status != 200:
            closed.append((name, status))
        assert client.post(url).status_code in (200, 302, 403, 404, 405), name
    # What somebody has exported is his own, and an entry of the trail has no history.
    assert {name for name, _ in closed} == {
        "admin:copilot_admin_auditentry_history",
        "admin:copilot_admin_transcriptexport_change",
        "admin:copilot_admin_transcriptexport_changelist",
        "admin:copilot_admin_transcriptexport_history",
    }
    after = everything()
    assert after == before
    assert client.get(reverse("admin:analytics")).status_code == 200


@pytest.mark.usefixtures("short_refusals", "statuses_alone", "same_person")
def test_publishers_read_copilots_and_put_them_before_people_and_nothing_else(
    things: dict[str, str],
) -> None:
    Provider.objects.update(model_ids=["demo"], checked_at=timezone.now())  # none left to fetch
    client = browser(Role.PUBLISHERS)
    before = everything()
    opened = set()
    for name, route in WITHIN:
        url = url_of(name, route, things)
        if owner_of(name) not in (None, Role.BUILDERS):
            assert client.get(url).status_code in (403, 405), name
        if client.post(url).status_code == 302 and owner_of(name):
            opened.add(name)
    assert opened == {
        "admin:copilot_admin_copilot_again",  # here of what is live: nothing to do
        "admin:copilot_admin_copilot_checklist",  # what is told before publishing
    }
    assert everything() == before


def test_a_builder_who_may_not_publish_makes_drafts_alone() -> None:
    builders = Group.objects.get(name=Role.BUILDERS)
    builders.permissions.remove(builders.permissions.get(codename="publish_copilot"))
    client, draft = browser(Role.BUILDERS), make_copilot()
    url = f"{reverse('admin:copilot_admin_copilot_publish')}?id={draft.pk}"
    page = client.get(url)
    may_publish = page.context["perms"]["copilot_admin"]["publish_copilot"]
    assert (bool(page.context["ready"]), may_publish) == (True, False)
    assert 'type="submit" class="ca-btn ca-btn--primary"' not in page.content.decode()
    sent = {"draft": f"{draft.pk}:{page.context['cards'][0]['draft'].digest}"}
    assert client.post(url, sent).status_code == 403
    draft.refresh_from_db()
    assert draft.live is None
    page = client.get(reverse("admin:copilot_admin_copilot_change", args=[draft.pk]))
    assert 'name="_publish"' not in page.content.decode()
    copilot = make_published()  # which may be disabled, but not enabled
    url = reverse("admin:copilot_admin_copilot_settings", args=[copilot.pk])
    for is_on in (False, True):
        form = read_form(client, url, form_id="settings-form")
        client.post(url, merged(form, {"now-enabled": "on" if is_on else None, "sure": "1"}))
        copilot.refresh_from_db()
        assert copilot.enabled is False


@pytest.mark.parametrize("role", ROLES)
def test_the_menu_holds_only_what_the_role_may_open(role: str) -> None:
    client = browser(role)
    for item in client.get("/admin/").context["navigation"]:
        page = client.get(item["url"])
        assert page.status_code == 200
        assert all(
            client.get(tab["url"]).status_code == 200 for tab in page.context["section_tabs"]
        )


def test_somebody_who_may_only_look_sees_a_copilot_without_a_form() -> None:
    group = Group.objects.create(name="Onlookers")
    wanted = Group.objects.get(name=Role.BUILDERS).permissions.get(codename="view_copilot")
    group.permissions.add(wanted)
    client = browser("Onlookers")
    copilot = make_published(system_prompt="Be brief.", parameters={"seed": 7})
    response = client.get(reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]))
    page = response.content.decode()
    assert "Be brief." in page
    assert 'name="_continue"' not in page
    assert 'name="system_prompt"' not in page
    assert client.post(response.request["PATH_INFO"], {"name": "X"}).status_code == 403
