"""The places of the admin, in the order in which people need them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

HOME_ICON = "home"
OTHER_ICON = "dot"

# (group, what belongs to it with the icon of each); a model that is not here comes last.
_ORDER: Sequence[tuple[str | Promise, Mapping[str, str]]] = (
    (_("Build"), {"Copilot": "copilot", "Component": "component"}),
    (
        _("Review"),
        {
            "Conversation": "transcript",
            "Figures": "figures",
            "ReviewQueue": "check",
            "TranscriptExport": "file",
            "Criterion": "options",
            "ComponentCall": "send",
        },
    ),
    (
        _("Operate"),
        {
            "Provider": "provider",
            "ModelPrice": "price",
            "EndpointKey": "key",
            "Limits": "limit",
            "Running": "steps",
            "Privacy": "check",
        },
    ),
    (
        _("Tell"),
        {
            "Alert": "bell",
            "AlertRule": "options",
            "AlertDigest": "file",
            "AlertWebhook": "plug",
            "AlertDelivery": "send",
        },
    ),
    (_("People"), {"User": "person", "Group": "people", "AuditEntry": "check"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationLink:
    """A link of the rail."""

    label: str | Promise
    url: str
    icon: str
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceGroup:
    """Links that belong together; the first group has no label."""

    label: str | Promise
    places: tuple[NavigationLink, ...]


def navigation(
    models: Iterable[Mapping[str, str]], *, index_url: str, path: str
) -> tuple[PlaceGroup, ...]:
    """The rail for somebody who may see these models.

    Args:
        models: Rows with `object_name`, `name` and `admin_url`, as Django's app list has them.
        index_url: Of the start page.
        path: Of the page that is shown.
    """
    by_name = {model["object_name"]: model for model in models if model.get("admin_url")}
    home = NavigationLink(
        label=_("Start"), url=index_url, icon=HOME_ICON, is_current=path == index_url
    )
    groups = [PlaceGroup(label="", places=(home,))]
    for label, icons in _ORDER:
        found = [(by_name.pop(name), icon) for name, icon in icons.items() if name in by_name]
        groups.append(_group(label, found, path=path))
    groups.append(_group(_("More"), [(model, OTHER_ICON) for model in by_name.values()], path=path))
    return tuple(group for group in groups if group.places)


def _group(
    label: str | Promise, models: Iterable[tuple[Mapping[str, str], str]], *, path: str
) -> PlaceGroup:
    places = tuple(
        NavigationLink(
            label=model["name"],
            url=model["admin_url"],
            icon=icon,
            is_current=path.startswith(model["admin_url"]),
        )
        for model, icon in models
    )
    return PlaceGroup(label=label, places=places)
