"""The menu of the admin, and the pages of each menu item as tabs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Text = str | Promise


@dataclass(frozen=True, slots=True)
class Section:
    """A menu item; `pages` maps the names of models and pages to the labels of their tabs."""

    key: str
    label: Text
    icon: str
    pages: Mapping[str, Text]


SECTIONS: Sequence[Section] = (
    Section("copilots", _("Copilots"), "copilot", {"Copilot": _("Copilots")}),
    Section("conversations", _("Conversations"), "chat", {"Conversation": _("Conversations")}),
    Section(
        "analytics",
        _("Analytics"),
        "chart",
        {"Analytics": _("Analytics"), "Figures": _("Analytics")},
    ),
    Section(
        "review",
        _("Review"),
        "review",
        {
            "ReviewQueue": _("Queues"),
            "Criterion": _("Labels & scores"),
            "TranscriptExport": _("Exports"),
        },
    ),
    Section(
        "tools",
        _("Tools"),
        "tool",
        {"Component": _("Tools"), "ComponentCall": _("Calls")},
    ),
    Section(
        "alerts",
        _("Alerts"),
        "bell",
        {
            "Alert": _("Alerts"),
            "AlertRule": _("Rules"),
            "AlertDigest": _("Digests"),
            "AlertWebhook": _("Webhooks"),
            "AlertDelivery": _("Deliveries"),
        },
    ),
    Section(
        "settings",
        _("Settings"),
        "gear",
        {
            "Settings": _("Overview"),
            "Provider": _("Models"),
            "ModelPrice": _("Pricing"),
            "EndpointKey": _("API keys"),
            "Limits": _("Limits"),
            "Privacy": _("Privacy"),
            "User": _("Team"),
            "Group": _("Roles"),
            "AuditEntry": _("Audit log"),
            "Jobs": _("Jobs"),
        },
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuItem:
    """A link of the menu, with the number of things that wait there."""

    label: Text
    url: str
    icon: str
    is_current: bool
    count: int = 0


@dataclass(frozen=True, slots=True)
class Tab:
    """A page of the current menu item."""

    label: Text
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Menu:
    """Everything that the shell of a page needs."""

    items: tuple[MenuItem, ...]
    tabs: tuple[Tab, ...]


def build_menu(
    urls: Mapping[str, str], *, index_url: str, path: str, counts: Mapping[str, int]
) -> Menu:
    """Return the menu for someone who may see these pages.

    Args:
        urls: URLs by name of model or page.
        index_url: URL of the home page.
        path: Path of the current page.
        counts: Number of waiting things by section key.
    """
    home = MenuItem(label=_("Home"), url=index_url, icon="home", is_current=path == index_url)
    items = [home]
    tabs: tuple[Tab, ...] = ()
    for section in SECTIONS:
        visible = {name: urls[name] for name in section.pages if name in urls}
        if not visible.keys() - {"Settings"}:
            continue
        current = max(
            (name for name, url in visible.items() if path.startswith(url)),
            key=lambda name: len(visible[name]),
            default=None,
        )
        items.append(
            MenuItem(
                label=section.label,
                url=next(iter(visible.values())),
                icon=section.icon,
                is_current=current is not None,
                count=counts.get(section.key, 0),
            )
        )
        if current is not None and len(visible) > 1:
            tabs = tuple(
                Tab(section.pages[name], url, name == current) for name, url in visible.items()
            )
    return Menu(tuple(items), tabs)
