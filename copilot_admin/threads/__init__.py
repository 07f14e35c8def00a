"""Which conversation does a stateless request continue?"""
