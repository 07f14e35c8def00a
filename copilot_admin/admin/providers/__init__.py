"""Where models are: the form of a provider, its test, and its deletion. Door: `admin`, for the site."""
