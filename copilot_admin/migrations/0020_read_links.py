from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("copilot_admin", "0019_version_notes"),
    ]

    operations = [
        migrations.AddField(
            model_name="copilot",
            name="read_links",
            field=models.BooleanField(default=True, verbose_name="read links"),
        ),
    ]
