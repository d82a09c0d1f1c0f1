/* ccm_mode.c: our mode CCM around the blocks of this library. */
#include "calls.h"

#include "ccm.c"
