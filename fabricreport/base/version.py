"""The version of the package, which every edition names."""

VERSION = "0.1.0"
