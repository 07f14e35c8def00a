"""Sign-in to the admin: passwords, single sign-on, second factors and sessions."""
