"""motecrypt considers encryption for small wireless devices."""

__version__ = "0.1.0"
