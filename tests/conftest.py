"""Settings of all tests: properties are not timed, since machines are noisy; speed is what `make bench` is for."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None, print_blob=True)
settings.load_profile("untimed")
