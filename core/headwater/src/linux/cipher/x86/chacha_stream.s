# The keystream from the counter and nonce in {{low}} and {{high}} on: {{left}} bytes to {{at}}.
    movq xmm15, {low}
    movq xmm14, {high}
    punpcklqdq xmm15, xmm14
    jmp 8f
3:  movdqa xmm9, xmm15
    movdqa xmm10, xmm15
    paddd xmm10, xmmword ptr [rip + {rows} + 32]
    movdqa xmm11, xmm15
    paddd xmm11, xmmword ptr [rip + {rows} + 48]
    blocks
    paddd xmm9, xmm15
    paddd xmm10, xmm15
    paddd xmm10, xmmword ptr [rip + {rows} + 32]
    paddd xmm11, xmm15
    paddd xmm11, xmmword ptr [rip + {rows} + 48]
    paddd xmm15, xmmword ptr [rip + {rows} + 64]
    .irp r, 0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11
    movdqa xmm12, xmm\r                 # where the last bytes are taken from
    cmp {left}, 16
    jb 7f
    movdqu xmmword ptr [{at}], xmm12
    add {at}, 16
    sub {left}, 16
    .endr
8:  test {left}, {left}
    jnz 3b
    jmp 9f

# The last bytes, one by one.
7:  test {left}, {left}
    jz 9f
    movq {n}, xmm12
    movhlps xmm12, xmm12
    movq {high}, xmm12
5:  mov byte ptr [{at}], {n:l}
    shrd {n}, {high}, 8
    shr {high}, 8
    inc {at}
    dec {left}
    jnz 5b
9:
    clear
    xor {n:e}, {n:e}
    xor {high:e}, {high:e}
.purgem quarter
.purgem chacha_round
.purgem turn
.purgem blocks
.purgem clear
