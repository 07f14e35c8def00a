"""List and pages of conversations, and tool calls.

Doors: `admin` and `component_calls` for the site, `words` for the filters of templates,
`facts` and `page` for the playground, `beside`, `foreign_filters`, `onward` and `way` for queues.
"""
