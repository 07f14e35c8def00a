from typing import Any

from django.db import migrations


def delete_quotes(apps: Any, schema_editor: Any) -> None:
    """Delete texts that quote users: alerts and their messages no longer hold any."""
    deliveries = apps.get_model("copilot_admin", "AlertDelivery").objects
    quoting = apps.get_model("copilot_admin", "Alert").objects.exclude(words=[])
    rows = deliveries.filter(alert__in=quoting)
    rows.filter(state="waiting").update(state="failed")
    rows.update(body="")


class Migration(migrations.Migration):
    dependencies = [("copilot_admin", "0002_search_and_triggers")]

    operations = [
        migrations.RunPython(delete_quotes, migrations.RunPython.noop),
        migrations.RemoveField("alert", "words"),
        migrations.RemoveField("alertrule", "with_words"),
    ]
