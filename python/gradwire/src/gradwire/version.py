"""Version of this package: that of the app whose agent it speaks with."""

__version__ = "0.1.0"
