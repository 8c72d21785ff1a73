# The keystream with VAES on 512-bit registers: four blocks to an instruction, eight in flight.
#
# Operands: {{rk}} round keys, {{constants}} the counters of x86/mod.rs, {{first}} and {{high}} the
# counter, {{at}} where the next byte goes, {{left}} how many are left, {{mask}} and {{t}} scratch.

# Makes 32 blocks in zmm0 to zmm7 and moves the counter in zmm31 on. zmm8 is its step, zmm9 the
# shuffle that turns it into a block, and zmm16 to zmm30 are the round keys.
#
# Eight chains of rounds side by side keep both AES units busy. With one chain after the other the
# CPU's scheduler is too small to find eight at once (12 instead of 16 GB/s on Zen 4).
.macro strip
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    vpshufb zmm\b, zmm31, zmm9
    vpaddq zmm31, zmm31, zmm8
    vpxorq zmm\b, zmm\b, zmm16
    .endr
    .irp k, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
    vaesenc zmm0, zmm0, zmm\k
    vaesenc zmm1, zmm1, zmm\k
    vaesenc zmm2, zmm2, zmm\k
    vaesenc zmm3, zmm3, zmm\k
    vaesenc zmm4, zmm4, zmm\k
    vaesenc zmm5, zmm5, zmm\k
    vaesenc zmm6, zmm6, zmm\k
    vaesenc zmm7, zmm7, zmm\k
    .endr
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    vaesenclast zmm\b, zmm\b, zmm30
    .endr
.endm

    .irp r, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    vbroadcasti32x4 zmm\r, xmmword ptr [{rk} + 16 * \r - 256]
    .endr
    vmovdqa64 zmm8, zmmword ptr [rip + {constants} + 128]
    vmovdqa64 zmm9, zmmword ptr [rip + {constants} + 64]
    vmovdqa64 zmm31, zmmword ptr [rip + {constants}]
    vmovq xmm10, {first}
    vmovq xmm11, {high}
    vpunpcklqdq xmm10, xmm10, xmm11
    vshufi32x4 zmm10, zmm10, zmm10, 0
    vpaddq zmm31, zmm31, zmm10
    jmp 3f

2:  strip
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    vmovdqu64 zmmword ptr [{at} + 64 * \b], zmm\b
    .endr
    add {at}, 512
    sub {left}, 512
3:  cmp {left}, 512
    jae 2b
4:  test {left}, {left}
    jz 9f

# The rest. If it is short, it must wait neither for eight registers nor for one after the other.
    .irp b, 0, 1, 2, 3
    vpshufb zmm\b, zmm31, zmm9
    vpaddq zmm31, zmm31, zmm8
    vpxorq zmm\b, zmm\b, zmm16
    .endr
    .irp k, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
    vaesenc zmm0, zmm0, zmm\k
    vaesenc zmm1, zmm1, zmm\k
    vaesenc zmm2, zmm2, zmm\k
    vaesenc zmm3, zmm3, zmm\k
    .endr
    .irp b, 0, 1, 2, 3
    vaesenclast zmm\b, zmm\b, zmm30
    mov {mask}, -1                      # as many ones as bytes are left, 64 at most
    mov {t:e}, 64
    cmp {left}, 64
    cmovb {t}, {left}
    bzhi {mask}, {mask}, {t}
    kmovq k1, {mask}
    vmovdqu8 zmmword ptr [{at}] {{k1}}, zmm\b
    add {at}, {t}
    sub {left}, {t}
    jz 9f
    .endr
    jmp 4b

# Clears all 32 registers, because each held round keys or keystream.
9:  vzeroall
    .irp r, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    vpxord zmm\r, zmm\r, zmm\r
    .endr
.purgem strip
