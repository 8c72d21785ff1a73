// Expands the 32 bytes at {{key}}.
    ldp q0, q1, [{key}]
    expand_keys
    clear_schedule
.purgem expand_keys
.purgem clear
.purgem clear_schedule
