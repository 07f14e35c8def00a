"""Tools that run on the server: one typed function in one file each; `registry` finds them.

Beside them lies what functions and components of the client share with them. Doors: `registry`,
`tool_arguments`, `mistakes`, `artifacts`, `chart`, `clean_html`.
"""
