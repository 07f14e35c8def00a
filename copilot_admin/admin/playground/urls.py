"""The addresses of the playground."""

from django.urls import path

from copilot_admin.admin.playground.choices import choices
from copilot_admin.admin.playground.html_frame import html_frame
from copilot_admin.admin.playground.judging import judge
from copilot_admin.admin.playground.saving import save
from copilot_admin.admin.playground.views import answer, ask

app_name = "playground"
urlpatterns = [
    path("<int:pk>/ask/", ask, name="ask"),
    path("<int:pk>/answer/", answer, name="answer"),
    path("<int:pk>/choices/", choices, name="choices"),
    path("<int:pk>/html/", html_frame, name="html"),
    path("<int:pk>/judge/", judge, name="judge"),
    path("<int:pk>/save/", save, name="save"),
]
