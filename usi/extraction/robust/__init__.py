"""Feature extraction of the profile `robust`."""
