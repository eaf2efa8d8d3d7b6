"""The process that computes for a rank: `python -m gradwire.compute`."""

from .process import main

main()
