/* mode.c: our Ascon-AEAD128 over the permutation of lwc-finalists, which is told the first round. */
#include "words.h"

#define ascon_permute last_rounds
#include "ascon_aead128.c"
