"""Import and export of copilots, providers and templates as YAML or JSON files."""
