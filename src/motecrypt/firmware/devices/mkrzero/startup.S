/* startup.S for the SAMD21: 14 exceptions and 28 interrupts. */
#define FURTHER_VECTORS 42
#include "startup_arm.S"
