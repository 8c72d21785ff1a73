//! OpenSSL's own test suite, without the module and with it.
//!
//! | file | content |
//! | --- | --- |
//! | `recipes` | runs recipes of the suite, and reads how each ended |
//! | `command` | the recipes that need only the installed `openssl` |
//! | `compiled` | all recipes, with programs that are compiled from Debian's source once |
//! | `build` | compiles OpenSSL and the programs into the user's cache |
//! | `draws` | which recipes drew how many bytes from the module |
//! | `differences` | the recipes whose outcome is another with the module, and why |

mod build;
pub(crate) mod command;
pub(crate) mod compiled;
mod differences;
mod draws;
mod recipes;
