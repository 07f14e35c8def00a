"""Tags of the component style sheet; every template has them without `load`."""

from django import template

from copilot_admin.admin.common.html import chip, format_time, icon

register = template.Library()
register.simple_tag(icon)
register.simple_tag(chip)
register.filter("ca_time", format_time)


@register.filter
def initials(user: object) -> str:
    name = getattr(user, "get_full_name", str)() or getattr(user, "username", "")
    words = name.replace(".", " ").replace("_", " ").replace("@", " ").split()
    return "".join(word[0] for word in words[:2]).upper()
