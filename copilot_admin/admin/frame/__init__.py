"""What surrounds every page: the site, its start page and its navigation."""
