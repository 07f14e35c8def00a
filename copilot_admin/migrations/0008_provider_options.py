"""Options of providers, and their request headers."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the columns."""

    dependencies = [("copilot_admin", "0007_copilot_fallbacks")]
    operations = [
        migrations.AddField(
            "provider", "options", models.JSONField("options", default=dict, blank=True)
        ),
        migrations.AddField(
            "provider", "headers_cipher", models.TextField(blank=True, default="", editable=False),
            preserve_default=False,
        ),
    ]
