"""What reviewers read: the list of conversations, their pages, and calls of components.

Doors: `admin` and `component_calls` for the site, `words` for the filters of templates,
`facts` and `page` for the playground, `beside`, `foreign_filters`, `onward` and `way` for queues.
"""
