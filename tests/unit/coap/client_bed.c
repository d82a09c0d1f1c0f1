/* client_bed.c: the client alone, without OSCORE, as over the secure link, for tests. */
#include "client.h"

#include <string.h>

static struct coap_client client;
static uint16_t mid;
static uint8_t newest;
static unsigned taken;

static void take(struct coap_client *from, uint8_t code, const uint8_t *payload, coap_size bytes) {
    (void)from;
    (void)code;
    newest = bytes > 0 ? payload[0] : 0;
    taken++;
}

void bed_begin(void) {
    taken = 0;
    client.take = take;
    coap_client_begin(&client, "a/b", 'c', 0);
}

unsigned bed_poll(uint32_t now_ms, uint8_t *to, uint16_t room) {
    return coap_client_poll(&client, &mid, now_ms, to, room);
}

/* How many were taken so far, above 8 bits, and the newest one's first byte. */
unsigned bed_take(const uint8_t *message, uint16_t bytes, uint32_t now_ms) {
    struct coap_message read;

    if (coap_read(&read, message, bytes)) {
        (void)coap_client_take(&client, &read, now_ms);
    }
    return taken << 8 | newest;
}
