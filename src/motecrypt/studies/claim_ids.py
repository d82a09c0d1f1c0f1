"""Topics of the rows that other views quote: they are looked for by these, never by their words."""

from __future__ import annotations

from enum import StrEnum


class ClaimId(StrEnum):
    """What a comparison is about; see `Comparison.topic`. Several rows may share one."""

    RC4D_STRONGER_THAN_RC4 = "rc4d-stronger-than-rc4"
    RC4D_FASTER_THAN_AES = "rc4d-faster-than-aes"
    WLAN_ENCRYPTION_DOUBLES = "wlan-encryption-doubles"
    WLAN_HEX_DOUBLES = "wlan-hex-doubles"
    WLAN_BLOWFISH_AGAINST_AES = "wlan-blowfish-against-aes"
    RF_LINE_BOUND = "rf-line-bound"
    RF_PADDING_SPARES_TIMEOUT = "rf-padding-spares-timeout"
