"""A seat knows whether its conversation was new before somebody took it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('copilot_admin', '0056_origins'),
    ]

    operations = [
        migrations.AddField(
            'seat', 'was_new', models.BooleanField(default=False, db_default=False)
        ),
    ]
