"""The copilot file: copilots and providers as text that people keep, compare and hand on.

In comes YAML or JSON; out go drafts, or every fault with its path. The built-in templates are such
files. Doors: `importing`, `import_rights`, `import_trail`, `import_changes`, `exporting`, `loading`, `json_faults`,
`bundles`, `questions`, `templates`, `template_needs`, `faults`, `fault_places`, `yaml_reading`, `yaml_writing`.
"""
