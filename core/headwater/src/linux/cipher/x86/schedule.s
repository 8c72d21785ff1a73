# The key schedule of AES-256 (FIPS 197, section 5.2).
#
# Operands: {{rk}} the round keys, {{t}} scratch.

# Expands the key in xmm0 and xmm1 to 15 round keys at {{rk}}.
#
# AESENCLAST substitutes, shifts rows and adds a round key. If all four columns of its input are
# the same word, shifting rows changes nothing, so one instruction computes SubWord(word) ^ rcon in
# every column. AESKEYGENASSIST does the same, but is microcoded and several times slower.
.macro expand_keys
    mov {t:e}, 0x0C0F0E0D               # picks the last word of a register, rotated by one byte
    movd xmm4, {t:e}
    pshufd xmm4, xmm4, 0
    mov {t:e}, 1                        # rcon, doubled after each use
    movd xmm5, {t:e}
    pshufd xmm5, xmm5, 0
    pxor xmm6, xmm6
    movdqa xmmword ptr [{rk}], xmm0
    movdqa xmmword ptr [{rk} + 16], xmm1
    .irp k, 2, 4, 6, 8, 10, 12, 14
    movdqa xmm2, xmm1
    pshufb xmm2, xmm4
    aesenclast xmm2, xmm5
    pslld xmm5, 1
    movdqa xmm3, xmm0                   # each word XORed with all words before it
    pslldq xmm3, 4
    pxor xmm0, xmm3
    movdqa xmm3, xmm0
    pslldq xmm3, 8
    pxor xmm0, xmm3
    pxor xmm0, xmm2
    movdqa xmmword ptr [{rk} + 16 * \k], xmm0
    .if \k < 14
    pshufd xmm2, xmm0, 0xFF
    aesenclast xmm2, xmm6
    movdqa xmm3, xmm1
    pslldq xmm3, 4
    pxor xmm1, xmm3
    movdqa xmm3, xmm1
    pslldq xmm3, 8
    pxor xmm1, xmm3
    pxor xmm1, xmm2
    movdqa xmmword ptr [{rk} + 16 * \k + 16], xmm1
    .endif
    .endr
.endm

# Clears the registers that the schedule went through.
.macro clear_schedule
    .irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8
    pxor xmm\r, xmm\r
    .endr
.endm
