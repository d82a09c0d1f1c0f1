/* startup.S for the nRF52840: 14 exceptions and 48 interrupts. */
#define FURTHER_VECTORS 62
#include "startup_arm.S"
