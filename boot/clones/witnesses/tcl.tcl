# Witness for Tcl: shows which random sources repeat in copies of a warm process.
#
# Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
# is copied while it waits, and each copy draws for itself; whoever started it compares them.
# HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws` and the scratch directory.

set warmUps 5
set draws 8
set pollMs 5

set home $env(HEADWATER_WITNESS_DIR)
set scratch [file join $home scratch]

# Two to a value: the generator has 31 bits.
proc numbers {} {
    format %.17g-%.17g [expr {rand()}] [expr {rand()}]
}

# A new interpreter seeds its generator by the clock and the thread.
proc newInterpreter {} {
    set child [interp create]
    set value [$child eval {format %.17g [expr {rand()}]}]
    interp delete $child
    return $value
}

# Deleted at once: a name still taken makes the next copy try another one, and that retry would
# hide a repeat.
proc temporaryName {} {
    global scratch
    set channel [file tempfile path [file join $scratch t]]
    close $channel
    file delete $path
    file tail $path
}

# The kernel's source first: only its first draws are sure to be the same in each copied machine.
set sources {
    "file tempfile" temporaryName
    "rand" numbers
    "rand, new interpreter" newInterpreter
}

proc draw {} {
    global sources
    set lines {}
    foreach {name command} $sources {
        lappend lines "tcl/$name\t[$command]"
    }
    return $lines
}

# Written under another name first, so that nobody reads half of it.
proc publish {name lines} {
    global home
    set unfinished [file join $home $name.tmp]
    set channel [open $unfinished w]
    puts $channel [join $lines \n]
    close $channel
    file rename $unfinished [file join $home $name]
}

proc witness {} {
    global home scratch warmUps draws pollMs
    # It would make the parents too. They are gone only if the planting was removed, and then it must
    # stay so.
    if {![file isdirectory $home]} {
        error "$home is gone"
    }
    file mkdir $scratch
    for {set round 0} {$round < $warmUps} {incr round} {
        draw
    }

    publish ready [list "Tcl [info patchlevel]"]
    while {![file exists [file join $home go]]} {
        # Without `ready` the planter gave up, and nobody would ever say go.
        if {![file exists [file join $home ready]]} {
            return
        }
        after $pollMs
    }

    set lines {}
    for {set round 0} {$round < $draws} {incr round} {
        lappend lines {*}[draw]
    }
    publish draws $lines
}

if {[catch witness message]} {
    puts stderr "tcl witness: $message"
    exit 1
}
