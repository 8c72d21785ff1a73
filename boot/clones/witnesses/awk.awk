# Witness for gawk and mawk: shows whether rand() repeats in copies of a warm process.
#
# Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
# is copied while it waits, and each copy draws for itself; whoever started it compares them.
# HEADWATER_WITNESS_DIR names the directory for `ready`, `go` and `draws`; HEADWATER_WITNESS the
# runtime that is to stand in the id (gawk, mawk).

# An empty file gives 0, a missing one -1. It must be closed, or a later question would go on
# reading the same file.
function exists(name,    line, found) {
    found = (getline line < (home "/" name)) >= 0
    if (found)
        close(home "/" name)
    return found
}

# The shell takes the directory from the environment: its name in the command would need quoting.
function finish(name,    file) {
    file = "\"$HEADWATER_WITNESS_DIR\"/" name
    close(home "/" name ".tmp")
    if (system("mv " file ".tmp " file) != 0)
        exit 1
}

# Two to a value: one has as few as 31 bits.
function draw(    first) {
    first = rand()
    return sprintf("%.17g-%.17g", first, rand())
}

# gawk tells its version to the program; mawk is asked by another process of it.
function title(    command, line) {
    if ("version" in PROCINFO)
        return runtime " " PROCINFO["version"]
    command = runtime " -W version 2>&1 </dev/null"
    if ((command | getline line) <= 0 || split(line, words, " ") < 2)
        words[2] = ""
    close(command)
    return runtime " " words[2]
}

BEGIN {
    home = ENVIRON["HEADWATER_WITNESS_DIR"]
    runtime = ENVIRON["HEADWATER_WITNESS"]
    # gawk starts from a constant unless it is seeded by the clock, as here.
    srand()
    for (round = 0; round < 5; round++)
        draw()

    print title() > (home "/ready.tmp")
    finish("ready")
    while (!exists("go")) {
        # Without `ready` the planter gave up, and nobody would ever say go.
        if (!exists("ready"))
            exit 0
        # awk cannot sleep by itself, so a child does.
        system("sleep 0.05")
    }

    for (round = 0; round < 8; round++)
        print runtime "/rand\t" draw() > (home "/draws.tmp")
    finish("draws")
}
