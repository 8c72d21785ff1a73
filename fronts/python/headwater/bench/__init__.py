"""The benchmark of the package: `python -m headwater.bench`."""
