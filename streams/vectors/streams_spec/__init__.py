"""STREAMS.md in plain Python; `streams.py`, beside this directory, compares it with the vectors."""
