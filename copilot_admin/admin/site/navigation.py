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
            "Privacy": "shield",
            "Running": "steps",
            "Alert": "bell",
            "AlertRule": "options",
            "AlertDigest": "file",
            "AlertWebhook": "plug",
            "AlertDelivery": "send",
        },
    ),
    (_("People"), {"User": "person", "Group": "people", "AuditEntry": "book"}),
)

# Shown below another place, while somebody is in either; and where he does not see that one.
_INSIDE: Mapping[str, str] = dict.fromkeys(
    ("AlertRule", "AlertDigest", "AlertWebhook", "AlertDelivery"), "Alert"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationLink:
    """A link of the rail.

    Attributes:
        is_inside: Whether it belongs to the place above it.
    """

    label: str | Promise
    url: str
    icon: str
    is_current: bool
    is_inside: bool = False


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
    near = {name for name, one in by_name.items() if path.startswith(one["admin_url"])}
    near |= {_INSIDE[name] for name in near & _INSIDE.keys()}
    hidden = {
        name for name, room in _INSIDE.items() if room in by_name and room not in near
    } & by_name.keys()
    inside = {name for name, room in _INSIDE.items() if room in by_name}
    home = NavigationLink(
        label=_("Start"), url=index_url, icon=HOME_ICON, is_current=path == index_url
    )
    groups = [PlaceGroup(label="", places=(home,))]
    for label, icons in _ORDER:
        found = [
            (by_name.pop(name), icon, name in inside)
            for name, icon in icons.items()
            if name in by_name and name not in hidden
        ]
        groups.append(_group(label, found, path=path))
    others = [(one, OTHER_ICON, False) for name, one in by_name.items() if name not in hidden]
    groups.append(_group(_("More"), others, path=path))
    return tuple(group for group in groups if group.places)


def _group(
    label: str | Promise, models: Iterable[tuple[Mapping[str, str], str, bool]], *, path: str
) -> PlaceGroup:
    places = tuple(
        NavigationLink(
            label=model["name"],
            url=model["admin_url"],
            icon=icon,
            is_current=path.startswith(model["admin_url"]),
            is_inside=is_inside,
        )
        for model, icon, is_inside in models
    )
    return PlaceGroup(label=label, places=places)
