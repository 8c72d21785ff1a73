//! The recipes whose outcome is another with the module. The reasons lie in the recipes.

/// The reason of a difference.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Why {
    /// A program asks for a generator of its own, or for OpenSSL's, and looks inside it. The
    /// configuration is read later, and its `random` replaces the choice.
    Generator,
    /// A program expects the process's library context without OpenSSL's default provider, which
    /// every configuration with the module must activate.
    DefaultProvider,
}

pub(super) const DIFFERENT: [(&str, Why); 6] = [
    // The tests write their numbers into the generator's context as if it were that of
    // test/testutil/fake_random.c, and overwrite memory.
    ("03-test_internal_sm2", Why::Generator),
    ("15-test_ecdsa", Why::Generator),
    // drbgtest and rand_test: parents, reseed counters and prescribed entropy of OpenSSL's own.
    ("05-test_rand", Why::Generator),
    // evp_extra_test2, pkcs12_format_test -context, sslapitest: setup() checks that the provider
    // is absent, and the tests run in library contexts of their own.
    ("30-test_evp_extra", Why::DefaultProvider),
    ("80-test_pkcs12", Why::DefaultProvider),
    ("90-test_sslapi", Why::DefaultProvider),
];
