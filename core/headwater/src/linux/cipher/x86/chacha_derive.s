# One block under the key at {{key}}, with the 32 bytes after it as the fourth rows. Its first half
# is the derived key; the seed is erased.
    movdqu xmm9, xmmword ptr [{key} + 32]
    movdqu xmm10, xmmword ptr [{key} + 48]
    movdqa xmm11, xmm10
    blocks
    movdqu xmmword ptr [{to}], xmm0
    movdqu xmmword ptr [{to} + 16], xmm1
    clear
    .irp i, 0, 16, 32, 48
    movdqu xmmword ptr [{key} + \i], xmm0
    .endr
.purgem quarter
.purgem chacha_round
.purgem turn
.purgem blocks
.purgem clear
