"""Site, navigation and home page of the admin."""
