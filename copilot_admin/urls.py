"""Every address of the server."""

from django.urls import include, path
from django.views.generic import RedirectView

from copilot_admin.admin.frame.site import site
from copilot_admin.api.app import api
from copilot_admin.api.health import alive, ready

handler500 = "copilot_admin.edge.error_pages.server_error"
urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/playground/", include("copilot_admin.admin.playground.urls")),
    path("admin/connect/", include("copilot_admin.admin.connect.urls")),
    path("admin/", site.urls),
    path("healthz", alive),
    path("readyz", ready),
    path("", api.urls),
]
