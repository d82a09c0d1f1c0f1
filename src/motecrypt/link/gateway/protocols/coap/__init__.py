"""CoAP between nodes and UDP (docs/coap.md): messages as bytes, the message layer over UDP, the proxy."""
