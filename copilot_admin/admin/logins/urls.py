"""The addresses of logging in with the firm's account."""

from django.urls import path

from copilot_admin.admin.logins.oidc_views import callback, start

app_name = "firm"
urlpatterns = [
    path("start/", start, name="start"),
    path("callback/", callback, name="callback"),
]
