// Expands the first half of the seed, encrypts the two blocks of the other half, and adds each to
// its own ciphertext. The sums are the key, which is expanded in turn; the seed is erased before.
    ldp q0, q1, [{seed}]
    expand_keys
    ldp q16, q17, [{seed}, #32]
    mov v0.16b, v16.16b
    mov v1.16b, v17.16b
    .irp k, 0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192
    ldr q7, [{rk}, #\k]
    aese v0.16b, v7.16b
    aesmc v0.16b, v0.16b
    aese v1.16b, v7.16b
    aesmc v1.16b, v1.16b
    .endr
    ldp q7, q18, [{rk}, #208]
    aese v0.16b, v7.16b
    aese v1.16b, v7.16b
    eor v0.16b, v0.16b, v18.16b
    eor v1.16b, v1.16b, v18.16b
    eor v0.16b, v0.16b, v16.16b
    eor v1.16b, v1.16b, v17.16b
    stp xzr, xzr, [{seed}]
    stp xzr, xzr, [{seed}, #16]
    stp xzr, xzr, [{seed}, #32]
    stp xzr, xzr, [{seed}, #48]
    expand_keys
    clear_schedule
.purgem expand_keys
.purgem clear
.purgem clear_schedule
