"""The power of six ciphers for wireless devices: time and energy over Wi-Fi."""
