/* startup.S for the STM32F103: 14 exceptions and 60 interrupts. */
#define FURTHER_VECTORS 74
#include "startup_arm.S"
