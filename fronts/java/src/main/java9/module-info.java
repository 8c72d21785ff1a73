/** Secure random bytes for the JDK's SecureRandom, and reproducible streams. */
module headwater {
    exports headwater;

    provides java.security.Provider with headwater.Headwater;
}
