"""The noise of simulated traces, stated as signal-to-noise ratio. Pure; the only place that defines it.

The SNR at a point is the variance of what the data do there, divided by the variance of the noise there
(Mangard, "Hardware countermeasures against DPA", CT-RSA 2004). The noise of simulated traces has one size
for all points, as a probe has. It is stated as the SNR at a point that shows the weight of one uniform
byte, whose variance is 2 bits squared; so an SNR means the same noise for every firmware, model and attack.
Other activity of the instruction is not in the noise, as its amount depends on the code.
"""

from __future__ import annotations

from math import isinf, sqrt

from motecrypt.base.errors import InputError

#: The variance of the Hamming weight of a uniform byte, in bits squared.
BYTE_WEIGHT_VARIANCE = 2.0


def noise_sd_of(snr: float, unit: float = 1.0) -> float:
    """Return the standard deviation of the noise, in units of a sample; 0 for an infinite SNR.

    Parameters
    ----------
    snr
        At a point that shows the weight of one uniform byte; above 0.
    unit
        How much one bit adds to a sample there.
    """
    if not snr > 0:
        raise InputError(f"SNR {snr}: give a number above 0")
    return 0.0 if isinf(snr) else unit * sqrt(BYTE_WEIGHT_VARIANCE / snr)


def snr_of(noise_sd: float, variance: float = BYTE_WEIGHT_VARIANCE) -> float:
    """Return the SNR at a point whose signal has this variance; infinite without noise."""
    return variance / noise_sd**2 if noise_sd > 0 else float("inf")
