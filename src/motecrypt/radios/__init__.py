"""Packet radios in virtual time: what a message costs on one, and some of them that programs can use.

Pure: no ports, no clocks, no files but the descriptors in data/radios. The arithmetic takes whole
numbers as well as numpy arrays, so a view over one message and a sweep over a million are one code.
"""

from motecrypt.radios.catalog import Radio, SourcedNumber, load_radio, radio_names
from motecrypt.radios.channel import Channel
from motecrypt.radios.costs import AirCosts, costs, padded_bytes
from motecrypt.radios.ends import Arrival
from motecrypt.radios.network import RadioNetwork
from motecrypt.radios.pair import RadioPair

__all__ = [
    "AirCosts",
    "Arrival",
    "Channel",
    "Radio",
    "RadioNetwork",
    "RadioPair",
    "SourcedNumber",
    "costs",
    "load_radio",
    "padded_bytes",
    "radio_names",
]
