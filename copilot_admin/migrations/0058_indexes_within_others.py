"""Two indexes go that are the beginnings of others."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('copilot_admin', '0057_skipped_seats'),
    ]

    operations = [
        migrations.AlterField(
            model_name='feedback',
            name='turn',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='feedback', to='copilot_admin.turn'),
        ),
        migrations.AlterField(
            model_name='hourlyusage',
            name='copilot',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='copilot_admin.copilot'),
        ),
    ]
