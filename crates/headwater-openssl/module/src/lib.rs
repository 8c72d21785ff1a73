//! The module that OpenSSL loads: the crate `headwater-openssl`, linked as a shared object.

// Nothing is called from here. Without the line rustc drops the crate, and `OSSL_provider_init` with it.
use provider as _;
