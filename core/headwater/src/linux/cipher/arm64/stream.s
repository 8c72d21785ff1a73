// The keystream: eight blocks in flight.
//
// Operands: {{rk}} round keys, {{first}} and {{high}} the counter, {{one}} its step, {{at}} where
// the next byte goes, {{left}} how many are left.

// Turns the counter in v31 (low half first) into the block b, by REV64 with EXT, and moves it on.
.macro counter b
    rev64 v\b\().16b, v31.16b
    ext v\b\().16b, v\b\().16b, v\b\().16b, #8
    fmov d8, {one}                          // the upper half is 0, so the low half moves on
    add v31.2d, v31.2d, v8.2d
.endm

// One round of eight blocks, under the round key in register k.
.macro aes_round k
    aese v0.16b, v\k\().16b
    aesmc v0.16b, v0.16b
    aese v1.16b, v\k\().16b
    aesmc v1.16b, v1.16b
    aese v2.16b, v\k\().16b
    aesmc v2.16b, v2.16b
    aese v3.16b, v\k\().16b
    aesmc v3.16b, v3.16b
    aese v4.16b, v\k\().16b
    aesmc v4.16b, v4.16b
    aese v5.16b, v\k\().16b
    aesmc v5.16b, v5.16b
    aese v6.16b, v\k\().16b
    aesmc v6.16b, v6.16b
    aese v7.16b, v\k\().16b
    aesmc v7.16b, v7.16b
.endm

// The last round of the block b.
.macro last b
    aese v\b\().16b, v29.16b
    eor v\b\().16b, v\b\().16b, v30.16b
.endm

// Makes 8 blocks in v0 to v7 from the counter. The round keys are in v16 to v30.
.macro strip
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    counter \b
    .endr
    .irp k, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
    aes_round \k
    .endr
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    last \b
    .endr
.endm

    ld1 {{v16.16b, v17.16b, v18.16b, v19.16b}}, [{rk}], #64
    ld1 {{v20.16b, v21.16b, v22.16b, v23.16b}}, [{rk}], #64
    ld1 {{v24.16b, v25.16b, v26.16b, v27.16b}}, [{rk}], #64
    ld1 {{v28.16b, v29.16b, v30.16b}}, [{rk}]
    fmov d31, {first}
    mov v31.d[1], {high}
    b 3f

2:  strip
    stp q0, q1, [{at}], #32
    stp q2, q3, [{at}], #32
    stp q4, q5, [{at}], #32
    stp q6, q7, [{at}], #32
    sub {left}, {left}, #128
3:  cmp {left}, #128
    b.hs 2b
    cbz {left}, 9f

// The rest, block by block.
    strip
    .irp b, 0, 1, 2, 3, 4, 5, 6, 7
    mov v8.16b, v\b\().16b                  // where the last bytes are taken from
    cmp {left}, #16
    b.lo 7f
    str q8, [{at}], #16
    subs {left}, {left}, #16
    b.eq 9f
    .endr
7:  st1 {{v8.b}}[0], [{at}], #1
    ext v8.16b, v8.16b, v8.16b, #1
    subs {left}, {left}, #1
    b.ne 7b

// Clears every register that held keys or keystream.
9:
    .irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26
    movi v\r\().2d, #0
    .endr
    .irp r, 27, 28, 29, 30, 31
    movi v\r\().2d, #0
    .endr
.purgem counter
.purgem aes_round
.purgem last
.purgem strip
