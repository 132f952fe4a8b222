"""Settings of the whole suite."""

from hypothesis import HealthCheck, settings

# A case is judged by what it shows; the suite's own timeout bounds how long a test may take.
settings.register_profile("coppice", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("coppice")
