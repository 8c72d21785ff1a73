// The keystream from the counter and nonce in {{low}} and {{high}} on: {{left}} bytes to {{at}}.
    load_state
    fmov d31, {low}
    mov v31.d[1], {high}
    b 8f
3:  ldp q25, q26, [{rows}, #16]
    ldr q27, [{rows}, #48]
    mov v20.16b, v31.16b
    add v21.4s, v31.4s, v25.4s
    add v22.4s, v31.4s, v26.4s
    add v23.4s, v31.4s, v27.4s
    blocks
    ldp q25, q26, [{rows}, #16]
    ldr q27, [{rows}, #48]
    add v20.4s, v20.4s, v31.4s
    add v25.4s, v25.4s, v31.4s
    add v21.4s, v21.4s, v25.4s
    add v26.4s, v26.4s, v31.4s
    add v22.4s, v22.4s, v26.4s
    add v27.4s, v27.4s, v31.4s
    add v23.4s, v23.4s, v27.4s
    ldr q25, [{rows}, #64]
    add v31.4s, v31.4s, v25.4s
    .irp r, 0, 4, 16, 20, 1, 5, 17, 21, 2, 6, 18, 22, 3, 7, 19, 23
    mov v24.16b, v\r\().16b                 // where the last bytes are taken from
    cmp {left}, #16
    b.lo 7f
    str q24, [{at}], #16
    sub {left}, {left}, #16
    .endr
8:  cbnz {left}, 3b
    b 9f

// The last bytes, one by one.
7:  cbz {left}, 9f
5:  st1 {{v24.b}}[0], [{at}], #1
    ext v24.16b, v24.16b, v24.16b, #1
    subs {left}, {left}, #1
    b.ne 5b
9:
    clear_all
.purgem quarter
.purgem chacha_round
.purgem turn
.purgem load_state
.purgem blocks
.purgem clear
.purgem clear_all
