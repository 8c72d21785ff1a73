# Expands the 32 bytes at {{key}}.
    movdqu xmm0, xmmword ptr [{key}]
    movdqu xmm1, xmmword ptr [{key} + 16]
    expand_keys
    clear_schedule
.purgem expand_keys
.purgem clear_schedule
