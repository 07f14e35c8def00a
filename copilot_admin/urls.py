"""Every address of the server."""

from django.urls import include, path
from django.views.generic import RedirectView

from copilot_admin.admin.logins.password_reset import (
    AskForReset,
    ResetAsked,
    ResetConfirmed,
    ResetDone,
)
from copilot_admin.admin.site.site import site
from copilot_admin.api.app import api
from copilot_admin.api.health import alive, ready

NAMES = {"site_header": site.site_header, "site_title": site.site_title}
handler400 = "copilot_admin.http.errors.bad_request"
handler404 = "copilot_admin.http.errors.not_found"
handler500 = "copilot_admin.http.errors.server_error"
urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/playground/", include("copilot_admin.admin.playground.urls")),
    path("admin/connect/", include("copilot_admin.admin.connect.urls")),
    path("admin/firm/", include("copilot_admin.admin.logins.urls")),
    path(
        "admin/password-reset/",
        AskForReset.as_view(extra_context=NAMES),
        name="admin_password_reset",
    ),
    path(
        "admin/password-reset/asked/",
        ResetAsked.as_view(extra_context=NAMES),
        name="password_reset_done",
    ),
    path(
        "admin/password-reset/<uidb64>/<token>/",
        ResetConfirmed.as_view(extra_context=NAMES),
        name="password_reset_confirm",
    ),
    path(
        "admin/password-reset/done/",
        ResetDone.as_view(extra_context=NAMES),
        name="password_reset_complete",
    ),
    path("admin/", site.urls),
    path("healthz", alive),
    path("readyz", ready),
    path("", api.urls),
]
