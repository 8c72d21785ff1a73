# Expands the first half of the seed, encrypts the two blocks of the other half, and adds each to
# its own ciphertext. The sums are the key, which is expanded in turn.
    movdqu xmm0, xmmword ptr [{seed}]
    movdqu xmm1, xmmword ptr [{seed} + 16]
    expand_keys
    movdqu xmm0, xmmword ptr [{seed} + 32]
    movdqu xmm1, xmmword ptr [{seed} + 48]
    movdqa xmm7, xmm0
    movdqa xmm8, xmm1
    pxor xmm0, xmmword ptr [{rk}]
    pxor xmm1, xmmword ptr [{rk}]
    .irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
    aesenc xmm0, xmmword ptr [{rk} + 16 * \k]
    aesenc xmm1, xmmword ptr [{rk} + 16 * \k]
    .endr
    aesenclast xmm0, xmmword ptr [{rk} + 224]
    aesenclast xmm1, xmmword ptr [{rk} + 224]
    pxor xmm0, xmm7
    pxor xmm1, xmm8

# Erases the seed before the schedule of the key that came from it.
    pxor xmm7, xmm7
    .irp at, 0, 16, 32, 48
    movdqu xmmword ptr [{seed} + \at], xmm7
    .endr
    expand_keys
    clear_schedule
.purgem expand_keys
.purgem clear_schedule
