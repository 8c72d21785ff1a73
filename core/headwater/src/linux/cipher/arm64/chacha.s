// Four blocks of ChaCha20 side by side. Rows a, b, c and d of the blocks are in v0 to v3, v4 to v7,
// v16 to v19 and v20 to v23. The first three rows of the state stay in v28 to v30, and v24 to v27
// are for temporary values. v8 to v15 are left alone, because a caller's halves are in them.
//
// Operands: {{key}} the key, {{rows}} the constants of chacha.rs, {{n}} scratch.

// A quarter of a round on the same rows of the four blocks:
// x += y; z = (z ^ x) <<< left, where left and right add up to 32.
.macro quarter x0, x1, x2, x3, y0, y1, y2, y3, z0, z1, z2, z3, left, right
    add v\x0\().4s, v\x0\().4s, v\y0\().4s
    add v\x1\().4s, v\x1\().4s, v\y1\().4s
    add v\x2\().4s, v\x2\().4s, v\y2\().4s
    add v\x3\().4s, v\x3\().4s, v\y3\().4s
    eor v24.16b, v\z0\().16b, v\x0\().16b
    eor v25.16b, v\z1\().16b, v\x1\().16b
    eor v26.16b, v\z2\().16b, v\x2\().16b
    eor v27.16b, v\z3\().16b, v\x3\().16b
    shl v\z0\().4s, v24.4s, #\left
    shl v\z1\().4s, v25.4s, #\left
    shl v\z2\().4s, v26.4s, #\left
    shl v\z3\().4s, v27.4s, #\left
    sri v\z0\().4s, v24.4s, #\right
    sri v\z1\().4s, v25.4s, #\right
    sri v\z2\().4s, v26.4s, #\right
    sri v\z3\().4s, v27.4s, #\right
.endm

.macro chacha_round
    quarter 0, 1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23, 16, 16
    quarter 16, 17, 18, 19, 20, 21, 22, 23, 4, 5, 6, 7, 12, 20
    quarter 0, 1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23, 8, 24
    quarter 16, 17, 18, 19, 20, 21, 22, 23, 4, 5, 6, 7, 7, 25
.endm

// Turns rows b, c and d by these many bytes: diagonals become columns, or columns diagonals.
.macro turn b, d
    ext v4.16b, v4.16b, v4.16b, #\b
    ext v5.16b, v5.16b, v5.16b, #\b
    ext v6.16b, v6.16b, v6.16b, #\b
    ext v7.16b, v7.16b, v7.16b, #\b
    ext v16.16b, v16.16b, v16.16b, #8
    ext v17.16b, v17.16b, v17.16b, #8
    ext v18.16b, v18.16b, v18.16b, #8
    ext v19.16b, v19.16b, v19.16b, #8
    ext v20.16b, v20.16b, v20.16b, #\d
    ext v21.16b, v21.16b, v21.16b, #\d
    ext v22.16b, v22.16b, v22.16b, #\d
    ext v23.16b, v23.16b, v23.16b, #\d
.endm

// Loads the first three rows of the state.
.macro load_state
    ldr q28, [{rows}]
    ldp q29, q30, [{key}]
.endm

// Makes four blocks whose fourth rows are in row d. Adds the first three rows of the state at the
// end; the fourth is the caller's.
.macro blocks
    mov v0.16b, v28.16b
    mov v1.16b, v28.16b
    mov v2.16b, v28.16b
    mov v3.16b, v28.16b
    mov v4.16b, v29.16b
    mov v5.16b, v29.16b
    mov v6.16b, v29.16b
    mov v7.16b, v29.16b
    mov v16.16b, v30.16b
    mov v17.16b, v30.16b
    mov v18.16b, v30.16b
    mov v19.16b, v30.16b
    mov {n:w}, #10
2:  chacha_round
    turn 4, 12
    chacha_round
    turn 12, 4
    subs {n:w}, {n:w}, #1
    b.ne 2b
    add v0.4s, v0.4s, v28.4s
    add v1.4s, v1.4s, v28.4s
    add v2.4s, v2.4s, v28.4s
    add v3.4s, v3.4s, v28.4s
    add v4.4s, v4.4s, v29.4s
    add v5.4s, v5.4s, v29.4s
    add v6.4s, v6.4s, v29.4s
    add v7.4s, v7.4s, v29.4s
    add v16.4s, v16.4s, v30.4s
    add v17.4s, v17.4s, v30.4s
    add v18.4s, v18.4s, v30.4s
    add v19.4s, v19.4s, v30.4s
.endm

.macro clear r
    movi v\r\().2d, #0
.endm

// Clears every register that held keys or keystream.
.macro clear_all
    .irp r, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    clear \r
    .endr
.endm
