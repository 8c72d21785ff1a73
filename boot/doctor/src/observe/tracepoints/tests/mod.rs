//! Tests of the tracepoints: lines of any form, and this machine's own tracefs.

mod lines;
mod live;
