"""Tools: the components that copilots can call, and a form to try one."""
