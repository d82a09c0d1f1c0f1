/* startup.S for the SAM3X: 14 exceptions and 45 interrupts. */
#define FURTHER_VECTORS 59
#include "startup_arm.S"
