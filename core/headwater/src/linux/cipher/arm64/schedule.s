// The key schedule of AES-256 (FIPS 197, section 5.2). Operand: {{rk}}, the round keys.

// Expands the key in v0 and v1 to 15 round keys at {{rk}}; v6 is zero.
//
// AESE substitutes and shifts rows. If all four columns of its input are the same word and the key
// is zero, shifting changes nothing, so one instruction computes SubWord(word) in every column.
.macro expand_keys
    movi v6.16b, #0
    movi v5.4s, #1                          // rcon, doubled after each use
    stp q0, q1, [{rk}]
    .irp k, 32, 64, 96, 128, 160, 192, 224
    dup v2.4s, v1.s[3]
    aese v2.16b, v6.16b
    ushr v3.4s, v2.4s, #8                   // RotWord: the first byte becomes the last
    sli v3.4s, v2.4s, #24
    eor v3.16b, v3.16b, v5.16b
    shl v5.4s, v5.4s, #1
    ext v4.16b, v6.16b, v0.16b, #12         // each word XORed with all words before it
    eor v0.16b, v0.16b, v4.16b
    ext v4.16b, v6.16b, v0.16b, #8
    eor v0.16b, v0.16b, v4.16b
    eor v0.16b, v0.16b, v3.16b
    str q0, [{rk}, #\k]
    .if \k < 224
    dup v2.4s, v0.s[3]
    aese v2.16b, v6.16b
    ext v4.16b, v6.16b, v1.16b, #12
    eor v1.16b, v1.16b, v4.16b
    ext v4.16b, v6.16b, v1.16b, #8
    eor v1.16b, v1.16b, v4.16b
    eor v1.16b, v1.16b, v2.16b
    str q1, [{rk}, #\k + 16]
    .endif
    .endr
.endm

.macro clear r
    movi v\r\().2d, #0
.endm

// Clears the registers that the schedule went through.
.macro clear_schedule
    .irp r, 0, 1, 2, 3, 4, 7, 16, 17, 18
    clear \r
    .endr
.endm
