# Witness for R: shows which random sources repeat in copies of a warm process.
#
# Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
# is copied while it waits, and each copy draws for itself; whoever started it compares them.
# HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws` and the scratch directory.

warm_ups <- 5
draws <- 8
poll_s <- 0.005

home <- Sys.getenv("HEADWATER_WITNESS_DIR")
scratch <- file.path(home, "scratch")

# The name is "t", the process number, and then the random part, which alone is compared: the number
# is equal in copies of a process and proves nothing.
temporary_name <- function() {
  name <- basename(tempfile("t", scratch))
  substring(name, nchar(sprintf("t%x", Sys.getpid())) + 1)
}

# R's default generator gives 32 bits, so two numbers make a value.
numbers <- function(values) paste(sprintf("%.17g", values), collapse = "-")

sources <- list(
  "runif" = function() numbers(runif(2)),
  "rnorm" = function() numbers(rnorm(2)),
  "sample" = function() paste(sample(20), collapse = "-"),
  "tempfile" = temporary_name
)

# Made once per process and kept for its whole life.
identities <- list("tempdir" = function() basename(tempdir()))

draw <- function(list) {
  values <- vapply(list, function(source) source(), "")
  paste0("r/", names(list), "\t", values)
}

# Written under another name first, so that nobody reads half of it.
publish <- function(name, lines) {
  unfinished <- file.path(home, paste0(name, ".tmp"))
  writeLines(lines, unfinished)
  if (!file.rename(unfinished, file.path(home, name))) stop("cannot rename ", unfinished)
}

# Returns FALSE if the planter gave up, which removes `ready`.
wait_for_go <- function() {
  while (!file.exists(file.path(home, "go"))) {
    if (!file.exists(file.path(home, "ready"))) return(FALSE)
    Sys.sleep(poll_s)
  }
  TRUE
}

witness <- function() {
  dir.create(scratch, showWarnings = FALSE)
  for (round in seq_len(warm_ups)) draw(sources)
  draw(identities)
  publish("ready", paste0("R ", R.version$major, ".", R.version$minor))
  if (wait_for_go()) {
    lines <- unlist(lapply(seq_len(draws), function(round) draw(sources)))
    publish("draws", c(lines, draw(identities)))
  }
}

# The error says what the warning before it says.
tryCatch(suppressWarnings(witness()), error = function(error) {
  message("r witness: ", conditionMessage(error))
  quit(save = "no", status = 1)
})
