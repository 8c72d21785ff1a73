# Three blocks of ChaCha20 side by side. Rows a, b, c and d of the blocks are in xmm0 to xmm2, xmm3
# to xmm5, xmm6 to xmm8 and xmm9 to xmm11; xmm12 to xmm14 are for temporary values.
#
# Operands: {{key}} the key, {{rows}} the constants of chacha.rs, {{n}} scratch.

# A quarter of a round on the same rows of the three blocks:
# x += y; z = (z ^ x) <<< left, where left and right add up to 32.
.macro quarter x0, x1, x2, y0, y1, y2, z0, z1, z2, left, right
    paddd xmm\x0, xmm\y0
    paddd xmm\x1, xmm\y1
    paddd xmm\x2, xmm\y2
    pxor xmm\z0, xmm\x0
    pxor xmm\z1, xmm\x1
    pxor xmm\z2, xmm\x2
    movdqa xmm12, xmm\z0
    movdqa xmm13, xmm\z1
    movdqa xmm14, xmm\z2
    pslld xmm\z0, \left
    pslld xmm\z1, \left
    pslld xmm\z2, \left
    psrld xmm12, \right
    psrld xmm13, \right
    psrld xmm14, \right
    por xmm\z0, xmm12
    por xmm\z1, xmm13
    por xmm\z2, xmm14
.endm

.macro chacha_round
    quarter 0, 1, 2, 3, 4, 5, 9, 10, 11, 16, 16
    quarter 6, 7, 8, 9, 10, 11, 3, 4, 5, 12, 20
    quarter 0, 1, 2, 3, 4, 5, 9, 10, 11, 8, 24
    quarter 6, 7, 8, 9, 10, 11, 3, 4, 5, 7, 25
.endm

# Turns rows b, c and d by these many columns: diagonals become columns, or columns diagonals.
.macro turn b, d
    pshufd xmm3, xmm3, \b
    pshufd xmm4, xmm4, \b
    pshufd xmm5, xmm5, \b
    pshufd xmm6, xmm6, 0x4E
    pshufd xmm7, xmm7, 0x4E
    pshufd xmm8, xmm8, 0x4E
    pshufd xmm9, xmm9, \d
    pshufd xmm10, xmm10, \d
    pshufd xmm11, xmm11, \d
.endm

# Makes three blocks under the key at {{key}}, whose fourth rows are in row d. Adds the first three
# rows of the state at the end; the fourth is the caller's.
.macro blocks
    movdqa xmm0, xmmword ptr [rip + {rows}]
    movdqa xmm1, xmm0
    movdqa xmm2, xmm0
    movdqu xmm3, xmmword ptr [{key}]
    movdqa xmm4, xmm3
    movdqa xmm5, xmm3
    movdqu xmm6, xmmword ptr [{key} + 16]
    movdqa xmm7, xmm6
    movdqa xmm8, xmm6
    mov {n:e}, 10
2:  chacha_round
    turn 0x39, 0x93
    chacha_round
    turn 0x93, 0x39
    dec {n:e}
    jnz 2b
    movdqa xmm12, xmmword ptr [rip + {rows}]
    paddd xmm0, xmm12
    paddd xmm1, xmm12
    paddd xmm2, xmm12
    movdqu xmm12, xmmword ptr [{key}]
    paddd xmm3, xmm12
    paddd xmm4, xmm12
    paddd xmm5, xmm12
    movdqu xmm12, xmmword ptr [{key} + 16]
    paddd xmm6, xmm12
    paddd xmm7, xmm12
    paddd xmm8, xmm12
.endm

# Clears every register that held keys or keystream.
.macro clear
    .irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    pxor xmm\r, xmm\r
    .endr
.endm
