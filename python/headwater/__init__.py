"""Secure random bytes at memory speed, and random arrays for any partition of the work."""
