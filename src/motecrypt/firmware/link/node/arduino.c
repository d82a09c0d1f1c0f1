/* arduino.c: a node's clock on an Arduino. It is stopped while the chip sleeps. */
#include "node.h"

#include <Arduino.h>

uint16_t link_clock(struct link *link) {
    (void)link;
    return (uint16_t)millis();
}
