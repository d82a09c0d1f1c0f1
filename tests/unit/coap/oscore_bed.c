/* oscore_bed.c: a node's OSCORE for tests, as a library for Python, with storage that can be made to fail;
 * or, with FUZZ, as a program that changes protected messages: SEED RUNS. */
#include "oscore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t broken;
static uint32_t kept;

uint8_t oscore_keep(struct oscore *oscore) {
    (void)oscore;
    if (broken) {
        return 0;
    }
    kept++;
    return 1;
}

void bed_break(uint8_t is_broken) {
    broken = is_broken;
}

uint32_t bed_kept(void) {
    return kept;
}

unsigned bed_bytes(void) {
    return (unsigned)sizeof(struct oscore);
}

void bed_make(struct oscore *oscore, const uint8_t *sender_key, const uint8_t *recipient_key,
              const uint8_t *iv, const uint8_t *sender_id, uint8_t sender_id_bytes,
              const uint8_t *recipient_id, uint8_t recipient_id_bytes, uint32_t send_kept,
              uint32_t receive_kept) {
    memset(oscore, 0, sizeof *oscore);
    memcpy(oscore->sender_key, sender_key, OSCORE_KEY_BYTES);
    memcpy(oscore->recipient_key, recipient_key, OSCORE_KEY_BYTES);
    memcpy(oscore->iv, iv, OSCORE_IV_BYTES);
    memcpy(oscore->sender_id, sender_id, sender_id_bytes);
    memcpy(oscore->recipient_id, recipient_id, recipient_id_bytes);
    oscore->sender_id_bytes = sender_id_bytes;
    oscore->recipient_id_bytes = recipient_id_bytes;
    oscore->send_kept = send_kept;
    oscore->receive_kept = receive_kept;
    oscore_begin(oscore);
}

void bed_set(struct oscore *oscore, uint32_t send) {
    oscore->send = send;
}

uint32_t bed_get(const struct oscore *oscore, uint8_t what) {
    return what == 0 ? oscore->send_kept : what == 1 ? oscore->receive_kept : oscore->send;
}

#ifdef FUZZ
static uint64_t state;

static uint32_t next(uint32_t below) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 2685821657736338717u) >> 32) % below;
}

int main(int words, char **word) {
    static const uint8_t key[16] = {1}, other[16] = {2}, iv[13] = {3}, a[2] = {7, 7}, b[1] = {9};
    static const uint8_t plain[] = {0x41, 1, 0, 1, 'T', 0x60, 0x53, 'a', '/', 'b', 0xFF, 'p', 'a', 'y'};
    struct oscore client, server;
    unsigned long runs, taken = 0, refused[OSCORE_NO_ROOM + 1] = {0};

    if (words != 3) {
        return 2;
    }
    state = strtoull(word[1], 0, 10) * 2 + 1;
    runs = strtoul(word[2], 0, 10);
    bed_make(&client, key, other, iv, a, 2, b, 1, 0, 0);
    bed_make(&server, other, key, iv, b, 1, a, 2, 0, 0);
    for (unsigned long run = 0; run < runs; run++) {
        struct oscore_request asked = {{0}, {0}, 0, 0, 0, 0}, got = asked;
        uint8_t *given, *to, sealed[80];
        coap_size bytes, count = 0, room = (coap_size)(next(3) ? 60 : next(60));
        uint8_t changes = (uint8_t)next(4), status;

        if (oscore_protect(&client, &asked, plain, sizeof plain, sealed, sizeof sealed, &bytes) !=
            OSCORE_OK) {
            abort();
        }
        for (uint8_t i = 0; i < changes; i++) {
            sealed[next(bytes)] = (uint8_t)next(256);
        }
        bytes = next(8) ? bytes : (coap_size)next(bytes);
        given = malloc(bytes);
        to = malloc(room);
        memcpy(given, sealed, bytes);
        status = oscore_unprotect(&server, &got, given, bytes, to, room, &count);
        if (status > OSCORE_NO_ROOM || (status == OSCORE_OK && count > room)) {
            abort();
        }
        taken += status == OSCORE_OK;
        refused[status]++;
        free(given);
        given = malloc(bytes);
        memcpy(given, sealed, bytes);
        if (oscore_unprotect(&server, &got, given, bytes, to, room, &count) == OSCORE_OK &&
            (given[1] == COAP_POST || given[1] == 5) && status == OSCORE_OK) {
            abort(); /* twice */
        }
        if (count > 0 && count <= room) {
            uint8_t *again = malloc(room);
            (void)oscore_protect(&server, &got, to, count, again, room, &bytes);
            free(again);
        }
        free(given);
        free(to);
    }
    printf("%lu taken, %lu forged, %lu malformed\n", taken, refused[OSCORE_FORGED],
           refused[OSCORE_MALFORMED]);
    return 0;
}
#endif
