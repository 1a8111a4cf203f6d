"""The profile `robust`: scores that say how sure they are."""
