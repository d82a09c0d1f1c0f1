/* ecb_mode.c: our mode ECB around the blocks of this library. */
#include "calls.h"

#include "ecb.c"
