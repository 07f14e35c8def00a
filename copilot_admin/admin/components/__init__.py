"""The catalogue of components, and the page that tries one. Door: `catalogue`, for the site."""
