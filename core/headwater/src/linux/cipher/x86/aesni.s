# The keystream with AES-NI: one block to an instruction, eight in flight.
#
# Operands: {{rk}} round keys, {{constants}} the counters of x86/mod.rs, {{first}} and {{high}} the
# counter, {{at}} where the next byte goes, {{left}} how many are left, {{t}} and {{u}} scratch.

# Makes 8 blocks in xmm0 to xmm7 and moves the counter in xmm13 on. xmm8 is its step, and xmm9 the
# shuffle that turns it into a block.
.macro strip
    movdqa xmm15, xmmword ptr [{rk}]
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    movdqa xmm\b, xmm13
    pshufb xmm\b, xmm9
    paddq xmm13, xmm8
    pxor xmm\b, xmm15
    .endr
    .irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
    movdqa xmm15, xmmword ptr [{rk} + 16 * \k]
    aesenc xmm0, xmm15
    aesenc xmm1, xmm15
    aesenc xmm2, xmm15
    aesenc xmm3, xmm15
    aesenc xmm4, xmm15
    aesenc xmm5, xmm15
    aesenc xmm6, xmm15
    aesenc xmm7, xmm15
    .endr
    movdqa xmm15, xmmword ptr [{rk} + 224]
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    aesenclast xmm\b, xmm15
    .endr
.endm

    movdqa xmm8, xmmword ptr [rip + {constants} + 256]
    movdqa xmm9, xmmword ptr [rip + {constants} + 64]
    movdqa xmm13, xmmword ptr [rip + {constants}]
    movq xmm10, {first}
    movq xmm11, {high}
    punpcklqdq xmm10, xmm11
    paddq xmm13, xmm10
    jmp 3f

2:  strip
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    movdqu xmmword ptr [{at} + 16 * \b], xmm\b
    .endr
    add {at}, 128
    sub {left}, 128
3:  cmp {left}, 128
    jae 2b
    test {left}, {left}
    jz 9f

# The rest, block by block.
    strip
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    movdqa xmm15, xmm\b                 # where the last bytes are taken from
    cmp {left}, 16
    jb 7f
    movdqu xmmword ptr [{at}], xmm15
    add {at}, 16
    sub {left}, 16
    jz 9f
    .endr
7:  movq {t}, xmm15
    pextrq {u}, xmm15, 1
5:  mov byte ptr [{at}], {t:l}
    shrd {t}, {u}, 8
    shr {u}, 8
    inc {at}
    dec {left}
    jnz 5b

# Clears every register that held keys or keystream.
9:
    .irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    pxor xmm\r, xmm\r
    .endr
    xor {t:e}, {t:e}
    xor {u:e}, {u:e}
.purgem strip
