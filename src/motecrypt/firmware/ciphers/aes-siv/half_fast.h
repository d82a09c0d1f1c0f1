/* half_fast.h: ../aes/aes_fast.h with room for half of an SIV key. */
#include "half_key.h"

#include "../aes/aes_fast.h"
