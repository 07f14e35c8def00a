"""The shell of every page: menu, tabs, search, settings, time zone, and signed-out htmx requests."""

from datetime import UTC, datetime
import hashlib
from pathlib import Path
from typing import Any

from django.db.models import BooleanField
from django.template import Context, Template
from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.admin.site.navigation import build_menu
from copilot_admin.admin.site.site import site
from copilot_admin.config.roles import Role
from copilot_admin.models import Alert
from copilot_admin.settings import BASE_DIR
from tests.alerts.alerting import make_rule
from tests.factories import make_copilot, make_user, sign_in

NOON = datetime(2025, 11, 28, 11, 37, tzinfo=UTC)


def menu(*names: str, path: str = "/admin/") -> Any:
    urls = {name: f"/admin/{name.lower()}/" for name in names}
    return build_menu(urls, index_url="/admin/", path=path, counts={"alerts": 3})


def signed_in(*roles: Role) -> Client:
    return sign_in(make_user(*roles))


class TestMenu:
    def test_an_item_shows_if_one_of_its_pages_does(self) -> None:
        items, tabs = menu("Copilot", "AlertRule", "Settings")
        urls = [item["url"] for item in items]
        assert urls == ["/admin/", "/admin/copilot/", "/admin/alertrule/"]
        assert ([item.get("count", 0) for item in items], tabs) == ([0, 0, 3], [])

    def test_the_pages_of_the_current_item_are_tabs(self) -> None:
        items, tabs = menu("Copilot", "Alert", "AlertRule", path="/admin/alertrule/7/change/")
        assert [item["is_current"] for item in items] == [False, False, True]
        assert [(tab["url"], tab["is_current"]) for tab in tabs] == [
            ("/admin/alert/", False),
            ("/admin/alertrule/", True),
        ]


@pytest.mark.django_db
class TestPages:
    def test_the_settings_list_only_what_a_role_may_open(self) -> None:
        client = signed_in(Role.BUILDERS)
        assert client.get("/admin/settings/").context["pages"] == []
        pages = signed_in(Role.OPERATORS).get("/admin/settings/").context["pages"]
        assert "/admin/limits/" in [page["url"] for page in pages]

    def test_open_alerts_are_counted_in_the_menu(self) -> None:
        Alert.objects.create(rule=make_rule(), opened_at=timezone.now())
        items = signed_in(Role.OPERATORS).get("/admin/settings/").context["navigation"]
        assert [item["count"] for item in items if item["icon"] == "bell"] == [1]

    def test_find_knows_copilots_and_pages(self) -> None:
        copilot = make_copilot(name="Rates Desk")
        client = signed_in(Role.BUILDERS, Role.REVIEWERS)
        results = client.get("/admin/find/", {"q": "rates"}).context["results"]
        urls = [result["url"] for result in results]
        assert urls[0] == f"/admin/copilot_admin/copilot/{copilot.pk}/change/"
        assert urls[-1].endswith("/conversation/?q=rates")
        assert client.get("/admin/find/").context["results"] == []
        part = client.get("/admin/find/", {"q": "queues"}, headers={"HX-Request": "true"})
        assert next(one["url"] for one in part.context["results"]).endswith("/reviewqueue/")
        assert b"<html" not in part.content

    def test_a_signed_out_htmx_request_gets_no_sign_in_page(self) -> None:
        assert Client().get("/admin/find/").status_code == 302
        assert Client().get("/admin/find/", headers={"HX-Request": "true"}).status_code == 401


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("Asia/Tokyo", "Asia/Tokyo"),
        ("", "UTC"),
        ("Nowhere/Here", "UTC"),
        ("../../etc/passwd", "UTC"),
        ("x" * 5000, "UTC"),
    ],
)
def test_times_are_in_the_zone_of_the_reader(zone: str, shown: str) -> None:
    client = signed_in(Role.OPERATORS)
    client.cookies["timezone"] = zone
    response = client.get("/admin/settings/")
    assert f'data-time-zone="{shown}"' in response.content.decode()
    assert timezone.get_current_timezone_name() == "UTC"


@pytest.mark.parametrize(
    ("style", "text"),
    [("", "28 Nov 2025 11:37"), ("short", "28 Nov 2025"), ("date", "28 Nov 2025")],
)
def test_a_time_carries_its_machine_form(style: str, text: str) -> None:
    source = f'{{{{ at|ca_time:"{style}" }}}}' if style else "{{ at|ca_time }}"
    drawn = Template(source).render(Context({"at": NOON}))
    assert 'datetime="2025-11-28T11:37:00+00:00"' in drawn
    assert f">{text}</time>" in drawn


def test_a_time_of_today_is_short() -> None:
    now = timezone.localtime()
    drawn = Template('{{ at|ca_time:"short" }}').render(Context({"at": now}))
    assert f">{now:%H:%M}</time>" in drawn


VENDOR = BASE_DIR / "copilot_admin" / "static" / "copilot_admin" / "vendor"


def recorded() -> dict[str, str]:
    rows = [line.split() for line in (VENDOR / "SHA256SUMS").read_text().splitlines()]
    return {name: digest for digest, name in rows}


def scripts() -> list[Path]:
    return sorted(path for path in VENDOR.rglob("*.js"))


def test_every_vendored_script_is_the_one_that_was_recorded():
    found = {
        str(path.relative_to(VENDOR)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in scripts()
    }
    assert found == recorded()


@pytest.mark.parametrize("admin", site._registry.values(), ids=str)
def test_no_column_shows_the_pictures_of_django(admin: Any) -> None:
    fields = {field.name: field for field in admin.model._meta.fields}
    for name in admin.list_display:
        assert not isinstance(fields.get(name), BooleanField)
        assert not getattr(getattr(admin, name, None), "boolean", False)
