// One block for each of the two rows after the key at {{key}}, which are their fourth rows. The first
// rows of the two are the derived key; the seed is erased.
    load_state
    ldp q20, q21, [{key}, #32]
    mov v22.16b, v21.16b
    mov v23.16b, v21.16b
    blocks
    stp q0, q1, [{to}]
    stp xzr, xzr, [{key}]
    stp xzr, xzr, [{key}, #16]
    stp xzr, xzr, [{key}, #32]
    stp xzr, xzr, [{key}, #48]
    clear_all
.purgem quarter
.purgem chacha_round
.purgem turn
.purgem load_state
.purgem blocks
.purgem clear
.purgem clear_all
