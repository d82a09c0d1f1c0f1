/* adapter.h: what a shared library of another project's ciphers shows to drivers/host.c: cipher.h's three
 * functions, behind a choice of cipher by name ("aes128-cbc", "rc6-ctr"). A context must be zero bytes before
 * its first set-up; a later one frees what the one before had allocated.
 */
#ifndef MOTECRYPT_ADAPTER_H
#define MOTECRYPT_ADAPTER_H

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "../../firmware/include/cipher.h"

enum block_mode { MODE_ECB, MODE_CBC, MODE_CTR, MODE_UNKNOWN };

extern const size_t cipher_context_bytes;

/* Choose the cipher that the functions then mean; `rounds` 0 is the cipher's own number. 0 if there is none. */
int adapter_select(const char *cipher, int rounds);

/* The library's own version. */
const char *adapter_version(void);

#ifdef __cplusplus
}
#endif

/* "rc6-ctr" -> family "rc6", MODE_CTR; the key length in "aes128-ctr" is left to the key. */
static enum block_mode adapter_parse(const char *cipher, char family[16]) {
    const char *dash = strchr(cipher, '-');
    size_t letters = dash ? (size_t)(dash - cipher) : 0;
    if (letters == 0 || letters > 15) {
        return MODE_UNKNOWN;
    }
    memcpy(family, cipher, letters);
    family[letters] = 0;
    if (strncmp(family, "aes", 3) == 0) {
        family[3] = 0;
    }
    if (strcmp(dash, "-ecb") == 0) {
        return MODE_ECB;
    }
    if (strcmp(dash, "-cbc") == 0) {
        return MODE_CBC;
    }
    return strcmp(dash, "-ctr") == 0 ? MODE_CTR : MODE_UNKNOWN;
}

#endif
