"""The addresses of the playground."""

from django.urls import path

from copilot_admin.admin.playground.saving import save
from copilot_admin.admin.playground.views import answer, ask

app_name = "playground"
urlpatterns = [
    path("<int:pk>/ask/", ask, name="ask"),
    path("<int:pk>/answer/", answer, name="answer"),
    path("<int:pk>/save/", save, name="save"),
]
