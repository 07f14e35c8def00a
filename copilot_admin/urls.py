"""Every address of the server."""

from django.urls import include, path
from django.views.generic import RedirectView

from copilot_admin.admin.site.site import site
from copilot_admin.api.app import api
from copilot_admin.api.health import alive, ready

handler400 = "copilot_admin.http.errors.bad_request"
handler404 = "copilot_admin.http.errors.not_found"
handler500 = "copilot_admin.http.errors.server_error"
urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/playground/", include("copilot_admin.admin.playground.views")),
    path("admin/connect/", include("copilot_admin.admin.connect.views")),
    path("admin/", include("copilot_admin.admin.sign_in.urls")),
    path("admin/", site.urls),
    path("healthz", alive),
    path("readyz", ready),
    path("", api.urls),
]
