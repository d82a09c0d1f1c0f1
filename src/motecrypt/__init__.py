"""motecrypt considers encryption for small wireless devices."""

__version__ = "0.2.0"
