/* machine_harness.c: arm_machine.h on a machine whose memory a test fills; no engine runs it. */
#define _GNU_SOURCE
#include "arm_machine.h"

#define serve serve_lines
#include "harness.h"

static struct machine machine;
static uint64_t evicted;

static void evict(struct machine *m, struct block *block) {
    (void)m;
    evicted = block->address;
}

/* One memory; each class of instructions costs 100 more than its place, as does each register. */
static uint64_t memory(const uint64_t *n) {
    struct machine *m = &machine;
    m->memories[m->memory_count++] = (struct memory){(uint32_t)n[0], (uint32_t)n[1], calloc(1, n[1])};
    for (uint32_t i = 0; i < THUMB_CLASS_COUNT; i++) {
        m->cost[i] = 100 + i;
    }
    m->current = &m->blocks[1];
    m->deadline = UINT64_MAX;
    m->evict = evict;
    return 0;
}

static uint64_t code(const uint64_t *n) {
    uint8_t *at = host_pointer(&machine, (uint32_t)n[0], 2);
    at[0] = (uint8_t)n[1];
    at[1] = (uint8_t)(n[1] >> 8);
    return code_at(&machine, (uint32_t)n[0]);
}

static uint64_t where(const uint64_t *n) {
    const uint8_t *at = host_pointer(&machine, (uint32_t)n[0], (uint32_t)n[1]);
    for (unsigned i = 0; i < machine.memory_count; i++) {
        const struct memory *memory = &machine.memories[i];
        if (at != NULL && at >= memory->data && at < memory->data + memory->bytes) {
            return memory->base + (uint64_t)(at - memory->data);
        }
    }
    return at == NULL ? UINT64_MAX : 0;
}

/* By how much it lowers the stack pointer, and what comes after it as the last of a block. */
static uint64_t stack(const uint64_t *n) {
    struct thumb_instruction instruction = thumb_decode((uint16_t)n[0], (uint16_t)n[1]);
    return (uint32_t)stack_bytes_of((uint16_t)n[0], &instruction);
}

static uint64_t last(const uint64_t *n) {
    struct thumb_instruction instruction = thumb_decode((uint16_t)n[0], (uint16_t)n[1]);
    return last_of((uint16_t)n[0], &instruction);
}

static uint64_t block(const uint64_t *n) {
    on_block(NULL, n[0], (uint32_t)n[1], &machine);
    return machine.cycles;
}

static uint64_t told(const uint64_t *n) {
    const struct block *b = machine.current;
    const uint64_t all[] = {b->address,
                            b->bytes,
                            b->next,
                            b->cycles,
                            b->instructions,
                            b->extra,
                            b->stack_bytes,
                            b->stack_left,
                            b->last,
                            b->moves_sp,
                            b->is_empty_loop,
                            evicted,
                            machine.instructions,
                            (uint64_t)(b - machine.blocks)};
    return all[n[0]];
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"memory", memory}, {"code", code},   {"where", where}, {"stack", stack},
        {"last", last},     {"block", block}, {"told", told},
    };
    (void)argc;
    return SERVE(operations, argv);
}
