# The keystream with VAES on 256-bit registers: two blocks to an instruction, eight in flight.
#
# Operands: {{rk}} round keys, {{constants}} the counters of x86/mod.rs, {{first}} and {{high}} the
# counter, {{at}} where the next byte goes, {{left}} how many are left, {{t}} and {{u}} scratch.

# Makes 16 blocks in ymm0 to ymm7 and moves the counter in ymm13 on. ymm8 is its step, and ymm9 the
# shuffle that turns it into a block.
.macro strip
    vbroadcasti128 ymm15, xmmword ptr [{rk}]
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    vpshufb ymm\b, ymm13, ymm9
    vpaddq ymm13, ymm13, ymm8
    vpxor ymm\b, ymm\b, ymm15
    .endr
    .irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
    vbroadcasti128 ymm15, xmmword ptr [{rk} + 16 * \k]
    vaesenc ymm0, ymm0, ymm15
    vaesenc ymm1, ymm1, ymm15
    vaesenc ymm2, ymm2, ymm15
    vaesenc ymm3, ymm3, ymm15
    vaesenc ymm4, ymm4, ymm15
    vaesenc ymm5, ymm5, ymm15
    vaesenc ymm6, ymm6, ymm15
    vaesenc ymm7, ymm7, ymm15
    .endr
    vbroadcasti128 ymm15, xmmword ptr [{rk} + 224]
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    vaesenclast ymm\b, ymm\b, ymm15
    .endr
.endm

    vmovdqa ymm8, ymmword ptr [rip + {constants} + 192]
    vmovdqa ymm9, ymmword ptr [rip + {constants} + 64]
    vmovdqa ymm13, ymmword ptr [rip + {constants}]
    vmovq xmm10, {first}
    vmovq xmm11, {high}
    vpunpcklqdq xmm10, xmm10, xmm11
    vinserti128 ymm10, ymm10, xmm10, 1
    vpaddq ymm13, ymm13, ymm10
    jmp 3f

2:  strip
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    vmovdqu ymmword ptr [{at} + 32 * \b], ymm\b
    .endr
    add {at}, 256
    sub {left}, 256
3:  cmp {left}, 256
    jae 2b
    test {left}, {left}
    jz 9f

# The rest, block by block.
    strip
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    cmp {left}, 16
    jb 7f
    vmovdqu xmmword ptr [{at}], xmm\b
    vextracti128 xmm0, ymm\b, 1         # the other block moves to where the bytes are taken
    add {at}, 16
    sub {left}, 16
    jz 9f
    cmp {left}, 16
    jb 8f
    vmovdqu xmmword ptr [{at}], xmm0
    add {at}, 16
    sub {left}, 16
    jz 9f
    jmp 6f
7:  vmovdqa xmm0, xmm\b
8:  vmovq {t}, xmm0
    vpextrq {u}, xmm0, 1
5:  mov byte ptr [{at}], {t:l}
    shrd {t}, {u}, 8
    shr {u}, 8
    inc {at}
    dec {left}
    jnz 5b
    jmp 9f
6:
    .endr

# Clears every register that held keys or keystream.
9:  vzeroall
    xor {t:e}, {t:e}
    xor {u:e}, {u:e}
.purgem strip
