"""The catalogue of components, and the page that tries one."""
