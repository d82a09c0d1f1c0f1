"""Packet radios in virtual time: what a message costs on one, and some of them that programs can use.

Pure: no ports, no clocks, no files but the descriptors in data/radios. The arithmetic takes whole
numbers as well as numpy arrays, so a view over one message and a sweep over a million are one code.
"""

from typing import TYPE_CHECKING

from motecrypt.air.radios.catalog import Radio, SourcedNumber, load_radio, radio_names
from motecrypt.air.radios.costs import AirCosts, costs, padded_bytes
from motecrypt.base.lazy import on_demand

if TYPE_CHECKING:
    from motecrypt.air.radios.channel import Channel
    from motecrypt.air.radios.ends import Arrival
    from motecrypt.air.radios.network import RadioNetwork
    from motecrypt.air.radios.pair import RadioPair

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

__getattr__ = on_demand(
    __name__, {"Arrival": "ends", "Channel": "channel", "RadioNetwork": "network", "RadioPair": "pair"}
)
