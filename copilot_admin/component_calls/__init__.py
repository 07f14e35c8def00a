"""Components called over HTTP: access, execution and records."""
