/*
 * headwater: secure random bytes at memory speed, exactly as fresh as the kernel's, and safer than
 * the kernel's across VM clone and restore.
 *
 *     unsigned char key[32];
 *     if (headwater_fill(key, sizeof key) != 0)
 *         err(1, "no random bytes");
 *
 * Link with -lheadwater (pkg-config headwater; CMake: find_package(headwater),
 * headwater::headwater). C99 and C++11, and later.
 *
 * Errors
 *     The library never returns weaker bytes in place of an error: it zeroes the buffer and sets
 *     errno. Two things fail in practice: a call with GRND_NONBLOCK early at boot (EAGAIN), and a
 *     sandbox that denies both getrandom(2) and /dev/urandom.
 *
 * Threads
 *     Every thread may call every function at any time; only a headwater_rng and a stamp are for
 *     one thread at a time. The library has no thread-local storage.
 *
 * Signals
 *     All functions except headwater_rng_new(), headwater_rng_free(), headwater_quiesce() and
 *     headwater_arrow_...() are async-signal-safe, first call included. No function is a cancellation point.
 *
 * Stack
 *     The first call of a process takes up to 4.5 KiB of stack, and later draws up to 2 KiB.
 *     headwater_random_pseudo_bytes() takes 4.5 KiB, streams and headwater_status_json() 10 KiB,
 *     headwater_arrow_...() 64 KiB. A dynamic linker that binds a function at its first call takes
 *     up to 3.5 KiB at that time; "ld -z now" binds at the start. A first draw fits an alternate
 *     signal stack of 8 KiB, and streams fit a thread of PTHREAD_STACK_MIN (16 KiB).
 *
 * Forks
 *     A child with memory of its own, made by fork or clone, from a handler or not, never draws its
 *     parent's bytes. A child in its parent's memory (vfork) may draw, with a risk of a repeat that
 *     SECURITY.md states. Nothing has to be called after a fork.
 *
 * Before main and after it
 *     Constructors, destructors, atexit(3) and pthread_key_create(3) handlers may draw. dlclose(3)
 *     leaves the library mapped.
 *
 * Streams
 *     headwater_stream_...() return numbers that follow from a seed, the same on every machine.
 *     headwater_random_pseudo_bytes() returns fast ones. Neither is for secrets. Streams have no
 *     state, so a forked child computes the numbers of its parent.
 *
 * Environment
 *     HEADWATER_MODE = auto (default), buffered, hedged, strict or kernel; ignored in set-user-ID
 *     programs. An unknown value means strict, and headwater_status_json() reports it. The first
 *     draw reads the environment; setenv(3) in another thread at the same time is safe.
 *     HEADWATER_NO_RSEQ = 1 replaces restartable sequences by locks, for debuggers and tracers that
 *     move code; ignored in set-user-ID programs.
 *
 * Only headwater_rng_new() and headwater_arrow_...() allocate. See headwater(3).
 */


#ifndef HEADWATER_H
#define HEADWATER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#if defined(__has_attribute)
#if __has_attribute(warn_unused_result)
#define HEADWATER_MUST_USE __attribute__((warn_unused_result))
#endif
#endif
#ifndef HEADWATER_MUST_USE
#define HEADWATER_MUST_USE
#endif

/* The Arrow C data interface: any library of Arrow's has these structs, under these names. */
struct ArrowSchema;
struct ArrowArray;

/**
 * Major version of this header; headwater_version() returns the version of the library.
 */
#define HEADWATER_VERSION_MAJOR 0

/**
 * Minor version. While the major version is 0, every incompatible change increments it.
 */
#define HEADWATER_VERSION_MINOR 2

/**
 * Patch version.
 */
#define HEADWATER_VERSION_PATCH 0

/**
 * Engine `ars7`, the default: AES rounds, the fastest where the CPU has AES.
 */
#define HEADWATER_ARS7 0

/**
 * Engine `ars5`: five rounds instead of seven, bit-compatible with Intel's MKL.
 */
#define HEADWATER_ARS5 1

/**
 * Engine `philox4x32`: Philox4x32-10, the fastest where the CPU has no AES.
 */
#define HEADWATER_PHILOX4X32 2

/**
 * A flag of headwater_arrow_...(): an id that is null is an error that names its row. Otherwise
 * its row of the result is null.
 */
#define HEADWATER_ARROW_REFUSE_NULLS 1

/**
 * Bytes that a message of headwater_arrow_...() takes, with its end.
 */
#define HEADWATER_ARROW_MESSAGE 256

/**
 * A generator with a page (4 KiB) of random bytes of its own, which needs no lock. The fastest way
 * to draw, under the same guards as headwater_fill().
 *
 * Only one thread at a time may use it. A forked child may use its copy, and draws other bytes
 * than its parent.
 */
struct headwater_rng;

/**
 * The key of 2^48 reproducible streams. Not for secrets.
 *
 * A key is a plain value: programs may copy it, compare its members, store it and send it. So it
 * needs no free, and no function keeps a pointer to it. But fill the members by hand only from a
 * stored key, and make a new one with one of the headwater_stream_key_from_...() functions.
 */
struct headwater_key {
    /**
     * HEADWATER_ARS7, HEADWATER_ARS5 or HEADWATER_PHILOX4X32.
     */
    uint32_t engine;
    /**
     * 128 bits, the lowest byte first.
     */
    uint8_t bytes[16];
};

/**
 * A bucket of an alias table: its own number below the threshold, another outcome from there on.
 *
 * headwater_stream_alias_table() makes tables. The members are public, so that programs can store
 * a table and send it.
 */
struct headwater_alias {
    /**
     * The share of the bucket's own outcome, times 2^64.
     */
    uint64_t threshold;
    /**
     * The number of the other outcome.
     */
    uint64_t other;
};

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Fills `buf` with `len` random bytes. Waits, once after boot, until the kernel's generator is
 * seeded.
 *
 * The length is not limited, and a request is never served in part. With `len` 0 the call does
 * nothing, and `buf` may be NULL.
 *
 * Returns 0, or -1 with errno set and `buf` all zeros:
 *
 *     EFAULT  `buf` is NULL and `len` is not 0, or `len` is above SSIZE_MAX
 *     other   getrandom(2) and /dev/urandom both failed; errno is that of /dev/urandom
 *
 * Async-signal-safe. On success errno keeps its value.
 */
HEADWATER_MUST_USE int headwater_fill(void *buf, size_t len);

/**
 * Does what getrandom(2) does, from headwater's pools.
 *
 * `flags` are those of <sys/random.h>:
 *
 *     GRND_NONBLOCK (1)  fails with EAGAIN if the kernel's generator is not seeded
 *     GRND_RANDOM (2)    changes nothing: Linux has had one generator since 5.6
 *     GRND_INSECURE (4)  fails with EAGAIN if the kernel's generator is not seeded, because
 *                        headwater never returns weaker bytes
 *
 * Returns `len`, or -1 with errno set and `buf` all zeros (with EINVAL, `buf` is unchanged):
 *
 *     EAGAIN  the generator is not seeded, and `flags` forbid to wait
 *     EFAULT  `buf` is NULL and `len` is not 0, or `len` is above SSIZE_MAX
 *     EINVAL  unknown flags, or GRND_RANDOM together with GRND_INSECURE
 *     other   the errors of headwater_fill(); never EINTR
 *
 * Async-signal-safe. On success errno keeps its value.
 */
HEADWATER_MUST_USE ssize_t headwater_getrandom(void *buf, size_t len, unsigned int flags);

/**
 * Does what getentropy(3) does, from headwater's pools. Waits as headwater_fill() does.
 *
 * Returns 0, or -1 with errno set:
 *
 *     EIO     `len` is above 256; `buf` is unchanged
 *     other   the errors of headwater_fill()
 *
 * Async-signal-safe. On success errno keeps its value.
 */
HEADWATER_MUST_USE int headwater_getentropy(void *buf, size_t len);

/**
 * Makes a generator, which headwater_rng_free() frees. Waits as headwater_fill() does.
 *
 * Returns NULL with errno set on an error: ENOMEM, or an error of headwater_fill().
 *
 * Not async-signal-safe, because it calls malloc(3). Each 64 generators it also maps memory.
 */
HEADWATER_MUST_USE struct headwater_rng *headwater_rng_new(void);

/**
 * Erases and frees a generator. Does nothing for NULL.
 *
 * Not async-signal-safe, because it calls free(3).
 */
void headwater_rng_free(struct headwater_rng *rng);

/**
 * Fills `buf` with `len` random bytes from an owned generator.
 *
 * Returns 0, or -1 with errno set as headwater_fill() does. EFAULT also means that `rng` is NULL.
 *
 * Async-signal-safe if the generator belongs to the handler. A handler must not draw from a
 * generator whose draw it may have interrupted.
 */
HEADWATER_MUST_USE int headwater_rng_fill(struct headwater_rng *rng, void *buf, size_t len);

/**
 * Returns a random number of 32 bits.
 *
 * The function cannot report an error. If headwater_fill() would fail, it writes one line to
 * stderr and aborts the process.
 *
 * Async-signal-safe, unlike arc4random(3) of some C libraries.
 */
HEADWATER_MUST_USE uint32_t headwater_arc4random(void);

/**
 * Fills `buf` with `len` random bytes, or aborts as headwater_arc4random() does; also if `buf` is
 * NULL and `len` is not 0.
 *
 * Async-signal-safe.
 */
void headwater_arc4random_buf(void *buf, size_t len);

/**
 * Returns a random number below `upper_bound`, each with the same probability. Returns 0 if
 * `upper_bound` is 0 or 1.
 *
 * Aborts as headwater_arc4random() does. Async-signal-safe.
 *
 * Method: D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019.
 */
HEADWATER_MUST_USE uint32_t headwater_arc4random_uniform(uint32_t upper_bound);

/**
 * Writes a random number below `upper_bound` to `*number`, each with the same probability.
 *
 * Returns 0, or -1 with errno set and `*number` unchanged:
 *
 *     EINVAL  `upper_bound` is 0
 *     EFAULT  `number` is NULL
 *     other   the errors of headwater_fill()
 *
 * Async-signal-safe. On success errno keeps its value.
 *
 * Method: D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019.
 */
HEADWATER_MUST_USE int headwater_uniform(uint64_t upper_bound, uint64_t *number);

/**
 * Puts `n` items of `size` bytes each, which begin at `base`, in a random order: each order has
 * the same probability. The items are moved byte by byte, as qsort(3) moves them.
 *
 * Returns 0, or -1 with errno set:
 *
 *     EFAULT  `base` is NULL and there is a byte, or the items have more bytes than SSIZE_MAX
 *     other   the errors of headwater_fill(); the items may be in another order then, and all of
 *             them are there
 *
 * Async-signal-safe. On success errno keeps its value.
 *
 * Method: R. A. Fisher and F. Yates, in the form of R. Durstenfeld, "Algorithm 235: Random
 * Permutation", Communications of the ACM 7(7), 1964.
 */
HEADWATER_MUST_USE int headwater_shuffle(void *base, size_t n, size_t size);

/**
 * Returns a number that changes at every event after which kept random values must be discarded: a
 * reseed of the kernel (once a minute, or on request), a clone of the VM, a fork, a restore of
 * this process. Returns 0 if this machine cannot detect clones of itself.
 *
 * The number is no identity, because two copies may have the same one. So compare it with an
 * earlier number of the same copy, and for inequality only. A process that is restored with every
 * page it had (CRIU before 4.2, Linux before 6.11) has its old number too, so call
 * headwater_quiesce() before such a dump.
 *
 * Async-signal-safe. The first call of a process does what headwater_init() does; later calls take
 * a few loads. errno keeps its value.
 */
HEADWATER_MUST_USE uint64_t headwater_generation(void);

/**
 * Compares `*stamp` with the number of headwater_generation() and stores the present one in it.
 *
 * The function serves batches and short-lived caches of random values. Start the stamp at 0, call
 * the function before each use of the cache, and draw the cache again unless it returns 0:
 *
 *     static uint64_t stamp;
 *     if (headwater_stale(&stamp) != 0)
 *         draw_them_again();
 *
 * A program may keep several stamps and may copy them. In a forked child every stamp is stale. A
 * stamp of 0 is always stale, and so is an uninitialised one, except with probability 2^-64.
 *
 * Returns 1 if an event happened since the last call with this stamp, 0 if none did, and -1 if
 * none was seen but this machine cannot detect clones of itself, so that no random value may be
 * kept (errno keeps its value), or if `stamp` is NULL (errno is EFAULT).
 *
 * Async-signal-safe. Only one thread at a time may use a stamp and the values it guards.
 */
HEADWATER_MUST_USE int headwater_stale(uint64_t *stamp);

/**
 * Does the set-up of the first draw now, and waits until the kernel's generator is seeded.
 *
 * Call it before the process enters a sandbox (seccomp, chroot, a private /proc), because set-up
 * makes other system calls, and afterwards getrandom(2) is the only one of the library, except in
 * headwater_quiesce(), headwater_status_json(), headwater_rng_new() beyond 64 handles, and the
 * first call of headwater_random_pseudo_bytes(), which map memory or read files. Where a filter
 * ends the process, call the last one before it. Further calls of this function do nothing.
 *
 * Returns 0, or -1 with errno set as headwater_fill() does. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_init(void);

/**
 * Prepares the process for a checkpoint by CRIU: unmaps the VMClock page and discards every
 * buffered byte. The process stays in mode `strict` afterwards, so that images of it draw
 * different bytes.
 *
 * Returns 0, or -1 with errno set. If the kernel refused to replace the VMClock page, nothing
 * changed. If it refused to drop some pages, the other pages are empty. Not async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_quiesce(void);

/**
 * Tests on demand what the set-up of the first draw tested: known answers of the cipher in use
 * (NIST SP 800-38A, F.5.5, or RFC 8439, 2.3.2) and of the key derivation, and the CPU's random
 * instruction where it is in use. Two draws of 32 bytes must differ.
 *
 * No program needs it; it is for a rule that asks for a test after a time, or after a live
 * migration.
 *
 * Returns 0, or -1 with errno set:
 *     EIO     an answer is wrong: end the process, and start it with HEADWATER_MODE=kernel
 *     others  as headwater_fill()
 * Async-signal-safe. After headwater_init(), getrandom(2) is its only system call.
 */
HEADWATER_MUST_USE int headwater_self_test(void);

/**
 * Returns the version of the library as MAJOR.MINOR.PATCH. Async-signal-safe.
 */
HEADWATER_MUST_USE const char *headwater_version(void);

/**
 * Writes the status of this process to `buf`: the JSON document of `headwater status --json`
 * (schema headwater.status/1) on one line, with a NUL at the end.
 *
 * The function truncates like snprintf(3). It returns the length of the whole document without the
 * NUL; if that is `len` or more, the document was truncated. The length varies by a few digits
 * from call to call, and 4096 bytes are always enough. With `len` 0, `buf` may be NULL. Returns -1
 * with errno EFAULT if `buf` is NULL and `len` is not 0.
 *
 * The call reads a few files, the kernel's log among them, so it takes milliseconds. But it
 * allocates nothing, and draws 1 byte without waiting. Async-signal-safe. On success errno keeps
 * its value.
 */
HEADWATER_MUST_USE ssize_t headwater_status_json(char *buf, size_t len);

/**
 * Makes the key of a number as seed, as `headwater stream --engine ENGINE --seed SEED` does. Not
 * for secrets.
 *
 * Returns 0, or -1 with errno set and `*key` unchanged: EINVAL if the engine is unknown, EFAULT if
 * `key` is NULL. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_key_from_seed(struct headwater_key *key, uint32_t engine, uint64_t seed);

/**
 * Makes the key of `len` bytes as seed, as `headwater stream --seed hex:...` does. Not for
 * secrets.
 *
 * Returns as headwater_stream_key_from_seed() does. EFAULT also means that `seed` is NULL and
 * `len` is not 0. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_key_from_bytes(struct headwater_key *key, uint32_t engine, const void *seed, size_t len);

/**
 * Makes the key of a text as seed, as `headwater stream --seed text:...` does. Not for secrets.
 *
 * Returns as headwater_stream_key_from_seed() does. EFAULT also means that `seed` is NULL, EINVAL
 * that `seed` is not UTF-8. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_key_from_text(struct headwater_key *key, uint32_t engine, const char *seed);

/**
 * Derives child number `label` of `*parent`, for a part of a program that needs numbers of its
 * own. The child depends on parent and label alone. `child` and `parent` may be the same pointer.
 * Not for secrets.
 *
 * Returns 0, or -1 with errno set and `*child` unchanged: EINVAL if the parent's engine is
 * unknown, EFAULT if a pointer is NULL. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_key_child(struct headwater_key *child, const struct headwater_key *parent, uint64_t label);

/**
 * Derives the child of `*parent` with a name as label. It differs from every numbered child. Not
 * for secrets.
 *
 * Returns as headwater_stream_key_child() does. EFAULT also means that `label` is NULL, EINVAL
 * that `label` is not UTF-8. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_key_child_text(struct headwater_key *child, const struct headwater_key *parent, const char *label);

/**
 * Writes bytes `start` to `start + n - 1` of stream number `stream` of `*key` to `out`. Element i
 * depends on key, stream and i alone, never on the range or the order of calls. Not for secrets.
 *
 * Returns 0, or -1 with errno set and `out` unchanged:
 *
 *     EINVAL  the key's engine is unknown
 *     ERANGE  `stream` is 2^48 or more, or the range ends past 2^64 - 1
 *     EFAULT  `key` is NULL, or `out` is NULL and `n` is not 0, or `n` elements take more than
 *             SSIZE_MAX bytes
 *
 * Async-signal-safe. On success errno keeps its value.
 */
HEADWATER_MUST_USE int headwater_stream_fill_u8(const struct headwater_key *key, uint64_t stream, uint64_t start, uint8_t *out, size_t n);

/**
 * Writes the bytes of headwater_stream_fill_u8() as numbers of 32 bits, lowest byte first. Not for
 * secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_u32(const struct headwater_key *key, uint64_t stream, uint64_t start, uint32_t *out, size_t n);

/**
 * Writes the bytes of headwater_stream_fill_u8() as numbers of 64 bits, lowest byte first. Not for
 * secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_u64(const struct headwater_key *key, uint64_t stream, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes numbers from 0 to below 1, multiples of 2^-24. Arguments and errors are those of
 * headwater_stream_fill_u8(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_f32(const struct headwater_key *key, uint64_t stream, uint64_t start, float *out, size_t n);

/**
 * Writes numbers from 0 to below 1, multiples of 2^-53. Arguments and errors are those of
 * headwater_stream_fill_u8(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_f64(const struct headwater_key *key, uint64_t stream, uint64_t start, double *out, size_t n);

/**
 * Writes normal numbers with mean 0 and variance 1 (Box and Muller), the same bits on every
 * machine. Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_normal_f32(const struct headwater_key *key, uint64_t stream, uint64_t start, float *out, size_t n);

/**
 * Writes normal numbers as headwater_stream_fill_normal_f32() does, in doubles. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_normal_f64(const struct headwater_key *key, uint64_t stream, uint64_t start, double *out, size_t n);

/**
 * Writes exponential numbers with mean 1, the same bits on every machine. Arguments and errors are
 * those of headwater_stream_fill_u8(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_exponential_f64(const struct headwater_key *key, uint64_t stream, uint64_t start, double *out, size_t n);

/**
 * Writes whole numbers below `bound`, each with the same probability. Arguments and errors are
 * those of headwater_stream_fill_u8(); EINVAL also means that `bound` is 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_bounded_u64(const struct headwater_key *key, uint64_t stream, uint64_t bound, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes whole numbers below `bound` as headwater_stream_fill_bounded_u64() does, from 32 bits of
 * the stream each: other numbers, and twice as fast. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_bounded_u32(const struct headwater_key *key, uint64_t stream, uint32_t bound, uint64_t start, uint32_t *out, size_t n);

/**
 * Writes elements `start` to `start + n - 1` of the stream's permutation of the numbers below
 * `len`, prepared once for all of them. Arguments and errors are those of
 * headwater_stream_fill_u8(); ERANGE also means that an element is not below `len`. Not for
 * secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_perm(const struct headwater_key *key, uint64_t stream, uint64_t len, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes element `i` of the stream's permutation of the numbers below `n` to `*value`, without a
 * list of the other elements. Not for secrets.
 *
 * Returns 0, or -1 with errno set and `*value` unchanged. The errors are those of
 * headwater_stream_fill_u8(); ERANGE also means that `i` is not below `n`. Async-signal-safe. Each
 * call prepares the permutation anew, which takes 100 to 200 ns: for many elements there are
 * headwater_stream_fill_perm() and headwater_stream_perm_list_at().
 */
HEADWATER_MUST_USE int headwater_stream_perm_at(const struct headwater_key *key, uint64_t stream, uint64_t n, uint64_t i, uint64_t *value);

/**
 * Writes the `n` bytes with the numbers in `indices` of stream number `stream` of `*key` to `out`,
 * in the order of `indices`. An index may repeat. Byte i is byte i of headwater_stream_fill_u8().
 * Not for secrets.
 *
 * Returns 0, or -1 with errno set and `out` unchanged:
 *
 *     EINVAL  the key's engine is unknown, or `out` overlaps `indices`
 *     ERANGE  `stream` is 2^48 or more, or an index lies past the end of the stream
 *     EFAULT  `key` is NULL, or `indices` or `out` is NULL and `n` is not 0, or `n` elements or
 *             indices take more than SSIZE_MAX bytes
 *
 * Async-signal-safe. On success errno keeps its value.
 */
HEADWATER_MUST_USE int headwater_stream_u8_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, uint8_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_u32() with the numbers in `indices`. Arguments
 * and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_u32_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, uint32_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_u64() with the numbers in `indices`. Arguments
 * and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_u64_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, uint64_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_f32() with the numbers in `indices`. Arguments
 * and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_f32_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, float *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_f64() with the numbers in `indices`. Arguments
 * and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_f64_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_normal_f32() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_normal_f32_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, float *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_normal_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_normal_f64_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_exponential_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_exponential_f64_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_bounded_u64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `bound` is 0.
 * Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_bounded_u64_at(const struct headwater_key *key, uint64_t stream, uint64_t bound, const uint64_t *indices, uint64_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_perm() with the numbers in `indices`. Arguments and
 * errors are those of headwater_stream_u8_at(); ERANGE also means that an index is not below
 * `len`, and then nothing is written. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_perm_list_at(const struct headwater_key *key, uint64_t stream, uint64_t len, const uint64_t *indices, uint64_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_bounded_u32() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_bounded_u64_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_bounded_u32_at(const struct headwater_key *key, uint64_t stream, uint32_t bound, const uint64_t *indices, uint32_t *out, size_t n);

/**
 * Writes numbers from 0 to below 1, multiples of 2^-11, as the bits of IEEE 754's binary16
 * (`_Float16`). Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_f16_bits(const struct headwater_key *key, uint64_t stream, uint64_t start, uint16_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_f16_bits() with the numbers in `indices`. Arguments
 * and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_f16_bits_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, uint16_t *out, size_t n);

/**
 * Writes numbers from 0 to below 1, multiples of 2^-8, as the bits of bfloat16: the upper half of
 * a float's. Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_bf16_bits(const struct headwater_key *key, uint64_t stream, uint64_t start, uint16_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_bf16_bits() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_bf16_bits_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, uint16_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_normal_f32(), rounded to nearest, as the bits of
 * binary16. Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_normal_f16_bits(const struct headwater_key *key, uint64_t stream, uint64_t start, uint16_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_normal_f16_bits() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_normal_f16_bits_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, uint16_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_normal_f32(), rounded to nearest, as the bits of
 * bfloat16. Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_normal_bf16_bits(const struct headwater_key *key, uint64_t stream, uint64_t start, uint16_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_normal_bf16_bits() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_normal_bf16_bits_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, uint16_t *out, size_t n);

/**
 * Writes complex normal numbers, whose squared sizes have mean 1. Each takes two places of `out`,
 * the real part first, as an element of `double _Complex` does; `out` has room for 2 * `n`
 * numbers. Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_complex_normal_f64(const struct headwater_key *key, uint64_t stream, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_complex_normal_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_complex_normal_f64_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, double *out, size_t n);

/**
 * Writes complex normal numbers, whose squared sizes have mean 1. Each takes two places of `out`,
 * the real part first, as an element of `float _Complex` does; `out` has room for 2 * `n` numbers.
 * Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_complex_normal_f32(const struct headwater_key *key, uint64_t stream, uint64_t start, float *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_complex_normal_f32() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_complex_normal_f32_at(const struct headwater_key *key, uint64_t stream, const uint64_t *indices, float *out, size_t n);

/**
 * Writes lognormal numbers: e to the power of `mu` + `sigma` * x, with the elements of
 * headwater_stream_fill_normal_f64() as x. Arguments and errors are those of
 * headwater_stream_fill_u8(); EINVAL also means that `mu` is not finite, or `sigma` is not finite
 * or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_lognormal_f64(const struct headwater_key *key, uint64_t stream, double mu, double sigma, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_lognormal_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `mu` is not
 * finite, or `sigma` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_lognormal_f64_at(const struct headwater_key *key, uint64_t stream, double mu, double sigma, const uint64_t *indices, double *out, size_t n);

/**
 * Writes gamma numbers of this shape and scale 1. Arguments and errors are those of
 * headwater_stream_fill_u8(); EINVAL also means that `shape` is not finite or not above 0. Not for
 * secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_gamma_f64(const struct headwater_key *key, uint64_t stream, double shape, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_gamma_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `shape` is
 * not finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_gamma_f64_at(const struct headwater_key *key, uint64_t stream, double shape, const uint64_t *indices, double *out, size_t n);

/**
 * Writes chi-square numbers of `k` degrees of freedom. Arguments and errors are those of
 * headwater_stream_fill_u8(); EINVAL also means that `k` is not finite or not above 0. Not for
 * secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_chi_square_f64(const struct headwater_key *key, uint64_t stream, double k, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_chi_square_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `k` is not
 * finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_chi_square_f64_at(const struct headwater_key *key, uint64_t stream, double k, const uint64_t *indices, double *out, size_t n);

/**
 * Writes beta numbers of the shapes `a` and `b`, whose mean is a / (a + b). Arguments and errors
 * are those of headwater_stream_fill_u8(); EINVAL also means that `a` or `b` is not finite or not
 * above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_beta_f64(const struct headwater_key *key, uint64_t stream, double a, double b, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_beta_f64() with the numbers in `indices`. Arguments
 * and errors are those of headwater_stream_u8_at(); EINVAL also means that `a` or `b` is not
 * finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_beta_f64_at(const struct headwater_key *key, uint64_t stream, double a, double b, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of Student's t distribution with `nu` degrees of freedom. Arguments and errors
 * are those of headwater_stream_fill_u8(); EINVAL also means that `nu` is not finite or not above
 * 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_student_t_f64(const struct headwater_key *key, uint64_t stream, double nu, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_student_t_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `nu` is not
 * finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_student_t_f64_at(const struct headwater_key *key, uint64_t stream, double nu, const uint64_t *indices, double *out, size_t n);

/**
 * Writes geometric numbers, from 1: trials up to the first success, each of probability `p`.
 * Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means that `p` is not
 * above 0 or above 1. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_geometric_u64(const struct headwater_key *key, uint64_t stream, double p, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_geometric_u64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `p` is not
 * above 0 or above 1. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_geometric_u64_at(const struct headwater_key *key, uint64_t stream, double p, const uint64_t *indices, uint64_t *out, size_t n);

/**
 * Writes Poisson numbers of this mean. Arguments and errors are those of
 * headwater_stream_fill_u8(); EINVAL also means that `mean` is not from 0 to 2^63. Not for
 * secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_poisson_u64(const struct headwater_key *key, uint64_t stream, double mean, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_poisson_u64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `mean` is not
 * from 0 to 2^63. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_poisson_u64_at(const struct headwater_key *key, uint64_t stream, double mean, const uint64_t *indices, uint64_t *out, size_t n);

/**
 * Writes binomial numbers: successes among `trials` trials, each of probability `p`. Arguments and
 * errors are those of headwater_stream_fill_u8(); EINVAL also means that `p` is not from 0 to 1.
 * Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_binomial_u64(const struct headwater_key *key, uint64_t stream, uint64_t trials, double p, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_binomial_u64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `p` is not
 * from 0 to 1. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_binomial_u64_at(const struct headwater_key *key, uint64_t stream, uint64_t trials, double p, const uint64_t *indices, uint64_t *out, size_t n);

/**
 * Writes normal numbers of this mean and standard deviation, given that they are from `low` to
 * `high`. Either end may be infinite, and both may lie far from the mean. Arguments and errors are
 * those of headwater_stream_fill_u8(); EINVAL also means that `mean` is not finite, `deviation` is
 * not finite or not above 0, or `low` is not below `high`. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_truncated_normal_f64(const struct headwater_key *key, uint64_t stream, double mean, double deviation, double low, double high, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_truncated_normal_f64() with the numbers in
 * `indices`. Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that
 * `mean` is not finite, `deviation` is not finite or not above 0, or `low` is not below `high`.
 * Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_truncated_normal_f64_at(const struct headwater_key *key, uint64_t stream, double mean, double deviation, double low, double high, const uint64_t *indices, double *out, size_t n);

/**
 * Writes angles from -pi to pi of von Mises' distribution around `mu` with concentration `kappa`.
 * Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means that `mu` is not
 * from -pi to pi, or `kappa` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_von_mises_f64(const struct headwater_key *key, uint64_t stream, double mu, double kappa, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_von_mises_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `mu` is not
 * from -pi to pi, or `kappa` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_von_mises_f64_at(const struct headwater_key *key, uint64_t stream, double mu, double kappa, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of Laplace's distribution around `mean`, on either side of which their distance
 * is exponential with the mean `scale`. Arguments and errors are those of
 * headwater_stream_fill_u8(); EINVAL also means that `mean` is not finite, or `scale` is not
 * finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_laplace_f64(const struct headwater_key *key, uint64_t stream, double mean, double scale, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_laplace_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `mean` is not
 * finite, or `scale` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_laplace_f64_at(const struct headwater_key *key, uint64_t stream, double mean, double scale, const uint64_t *indices, double *out, size_t n);

/**
 * Writes uniform numbers from `low` to `high`. Arguments and errors are those of
 * headwater_stream_fill_u8(); EINVAL also means that `low` is not finite or above `high`, or
 * `high` is not finite, or `high - low` is not. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_scaled_uniform_f64(const struct headwater_key *key, uint64_t stream, double low, double high, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_scaled_uniform_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `low` is not
 * finite or above `high`, or `high` is not finite, or `high - low` is not. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_scaled_uniform_f64_at(const struct headwater_key *key, uint64_t stream, double low, double high, const uint64_t *indices, double *out, size_t n);

/**
 * Writes normal numbers of this mean and standard deviation. Arguments and errors are those of
 * headwater_stream_fill_u8(); EINVAL also means that `mean` is not finite, or `deviation` is not
 * finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_scaled_normal_f64(const struct headwater_key *key, uint64_t stream, double mean, double deviation, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_scaled_normal_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `mean` is not
 * finite, or `deviation` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_scaled_normal_f64_at(const struct headwater_key *key, uint64_t stream, double mean, double deviation, const uint64_t *indices, double *out, size_t n);

/**
 * Writes exponential numbers, whose mean is `scale`. Arguments and errors are those of
 * headwater_stream_fill_u8(); EINVAL also means that `scale` is not finite or below 0. Not for
 * secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_scaled_exponential_f64(const struct headwater_key *key, uint64_t stream, double scale, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_scaled_exponential_f64() with the numbers in
 * `indices`. Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that
 * `scale` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_scaled_exponential_f64_at(const struct headwater_key *key, uint64_t stream, double scale, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of Rayleigh's distribution, whose mode is `scale`. Arguments and errors are those
 * of headwater_stream_fill_u8(); EINVAL also means that `scale` is not finite or below 0. Not for
 * secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_rayleigh_f64(const struct headwater_key *key, uint64_t stream, double scale, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_rayleigh_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `scale` is
 * not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_rayleigh_f64_at(const struct headwater_key *key, uint64_t stream, double scale, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of Weibull's distribution of this shape and scale 1. Arguments and errors are
 * those of headwater_stream_fill_u8(); EINVAL also means that `shape` is not finite or not above
 * 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_weibull_f64(const struct headwater_key *key, uint64_t stream, double shape, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_weibull_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `shape` is
 * not finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_weibull_f64_at(const struct headwater_key *key, uint64_t stream, double shape, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of Pareto's distribution of the second kind (Lomax's), from 0, of this shape.
 * Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means that `shape` is
 * not finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_pareto_f64(const struct headwater_key *key, uint64_t stream, double shape, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_pareto_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `shape` is
 * not finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_pareto_f64_at(const struct headwater_key *key, uint64_t stream, double shape, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers from 0 to 1 whose density at x is proportional to x to the power of `shape` - 1.
 * Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means that `shape` is
 * not finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_power_f64(const struct headwater_key *key, uint64_t stream, double shape, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_power_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `shape` is
 * not finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_power_f64_at(const struct headwater_key *key, uint64_t stream, double shape, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of Gumbel's distribution of largest values, with this mode and scale. Arguments
 * and errors are those of headwater_stream_fill_u8(); EINVAL also means that `mode` is not finite,
 * or `scale` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_gumbel_f64(const struct headwater_key *key, uint64_t stream, double mode, double scale, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_gumbel_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `mode` is not
 * finite, or `scale` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_gumbel_f64_at(const struct headwater_key *key, uint64_t stream, double mode, double scale, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of the logistic distribution of this mean and scale. Arguments and errors are
 * those of headwater_stream_fill_u8(); EINVAL also means that `mean` is not finite, or `scale` is
 * not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_logistic_f64(const struct headwater_key *key, uint64_t stream, double mean, double scale, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_logistic_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `mean` is not
 * finite, or `scale` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_logistic_f64_at(const struct headwater_key *key, uint64_t stream, double mean, double scale, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of Cauchy's distribution with this median, from which half of them are farther
 * than `scale`. Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means
 * that `median` is not finite, or `scale` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_cauchy_f64(const struct headwater_key *key, uint64_t stream, double median, double scale, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_cauchy_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `median` is
 * not finite, or `scale` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_cauchy_f64_at(const struct headwater_key *key, uint64_t stream, double median, double scale, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers from `left` to `right`, whose density is a triangle with its peak at `mode`.
 * Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means that `left` is
 * not finite or above `mode`, `mode` is not finite or above `right`, or `right` is not finite or
 * not above `left`, or `right - left` is not finite. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_triangular_f64(const struct headwater_key *key, uint64_t stream, double left, double mode, double right, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_triangular_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `left` is not
 * finite or above `mode`, `mode` is not finite or above `right`, or `right` is not finite or not
 * above `left`, or `right - left` is not finite. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_triangular_f64_at(const struct headwater_key *key, uint64_t stream, double left, double mode, double right, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of Wald's distribution (the inverse Gaussian) of this mean, whose variance is the
 * cube of the mean over `scale`. Arguments and errors are those of headwater_stream_fill_u8();
 * EINVAL also means that `mean` or `scale` is not finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_wald_f64(const struct headwater_key *key, uint64_t stream, double mean, double scale, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_wald_f64() with the numbers in `indices`. Arguments
 * and errors are those of headwater_stream_u8_at(); EINVAL also means that `mean` or `scale` is
 * not finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_wald_f64_at(const struct headwater_key *key, uint64_t stream, double mean, double scale, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of Fisher's F distribution with `first` and `second` degrees of freedom.
 * Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means that `first` or
 * `second` is not finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_fisher_f_f64(const struct headwater_key *key, uint64_t stream, double first, double second, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_fisher_f_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `first` or
 * `second` is not finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fisher_f_f64_at(const struct headwater_key *key, uint64_t stream, double first, double second, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of Zipf's distribution, from 1 to 2^63 - 1: k is as likely as k to the power of
 * -`exponent`. Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means
 * that `exponent` is not finite or not above 1. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_zipf_u64(const struct headwater_key *key, uint64_t stream, double exponent, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_zipf_u64() with the numbers in `indices`. Arguments
 * and errors are those of headwater_stream_u8_at(); EINVAL also means that `exponent` is not
 * finite or not above 1. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_zipf_u64_at(const struct headwater_key *key, uint64_t stream, double exponent, const uint64_t *indices, uint64_t *out, size_t n);

/**
 * Writes numbers of the logarithmic series, from 1: k is as likely as `p` to the power of k, over
 * k. Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means that `p` is
 * not from 0 to below 1. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_log_series_u64(const struct headwater_key *key, uint64_t stream, double p, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_log_series_u64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `p` is not
 * from 0 to below 1. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_log_series_u64_at(const struct headwater_key *key, uint64_t stream, double p, const uint64_t *indices, uint64_t *out, size_t n);

/**
 * Writes negative binomial numbers: failures before `successes` successes, each of probability
 * `p`. Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means that
 * `successes` is not finite, not above 0, or makes counts of 2^63 and more, or `p` is not above 0
 * or above 1. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_negative_binomial_u64(const struct headwater_key *key, uint64_t stream, double successes, double p, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_negative_binomial_u64() with the numbers in
 * `indices`. Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that
 * `successes` is not finite, not above 0, or makes counts of 2^63 and more, or `p` is not above 0
 * or above 1. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_negative_binomial_u64_at(const struct headwater_key *key, uint64_t stream, double successes, double p, const uint64_t *indices, uint64_t *out, size_t n);

/**
 * Writes noncentral chi-square numbers of `k` degrees of freedom. Arguments and errors are those
 * of headwater_stream_fill_u8(); EINVAL also means that `k` is not finite or not above 0, or
 * `noncentrality` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_noncentral_chi_square_f64(const struct headwater_key *key, uint64_t stream, double k, double noncentrality, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_noncentral_chi_square_f64() with the numbers in
 * `indices`. Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that
 * `k` is not finite or not above 0, or `noncentrality` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_noncentral_chi_square_f64_at(const struct headwater_key *key, uint64_t stream, double k, double noncentrality, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of the noncentral F distribution with `first` and `second` degrees of freedom.
 * Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means that `first` or
 * `second` is not finite or not above 0, or `noncentrality` is not finite or below 0. Not for
 * secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_noncentral_f_f64(const struct headwater_key *key, uint64_t stream, double first, double second, double noncentrality, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_noncentral_f_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `first` or
 * `second` is not finite or not above 0, or `noncentrality` is not finite or below 0. Not for
 * secrets.
 */
HEADWATER_MUST_USE int headwater_stream_noncentral_f_f64_at(const struct headwater_key *key, uint64_t stream, double first, double second, double noncentrality, const uint64_t *indices, double *out, size_t n);

/**
 * Writes hypergeometric numbers: good items in a sample of `sample` items, drawn without
 * replacement from `good` and `bad` ones. Arguments and errors are those of
 * headwater_stream_fill_u8(); EINVAL also means that `good` is part of a population above 2^53, or
 * `sample` is above the population. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_hypergeometric_u64(const struct headwater_key *key, uint64_t stream, uint64_t good, uint64_t bad, uint64_t sample, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_hypergeometric_u64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `good` is
 * part of a population above 2^53, or `sample` is above the population. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_hypergeometric_u64_at(const struct headwater_key *key, uint64_t stream, uint64_t good, uint64_t bad, uint64_t sample, const uint64_t *indices, uint64_t *out, size_t n);

/**
 * Writes logarithms of gamma numbers of this shape and scale 1, finite for small shapes too.
 * Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means that `shape` is
 * not finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_log_gamma_f64(const struct headwater_key *key, uint64_t stream, double shape, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_log_gamma_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `shape` is
 * not finite or not above 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_log_gamma_f64_at(const struct headwater_key *key, uint64_t stream, double shape, const uint64_t *indices, double *out, size_t n);

/**
 * Writes numbers of Maxwell's distribution: lengths of vectors of three normal numbers of the
 * deviation `scale`. Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also
 * means that `scale` is not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_maxwell_f64(const struct headwater_key *key, uint64_t stream, double scale, uint64_t start, double *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_maxwell_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `scale` is
 * not finite or below 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_maxwell_f64_at(const struct headwater_key *key, uint64_t stream, double scale, const uint64_t *indices, double *out, size_t n);

/**
 * Builds the alias table of `outcomes` weights, the same on every machine. The weights need not
 * add up to 1. Building takes a few ns for each outcome, and allocates nothing.
 *
 * Returns 0, or -1 with errno set and `table` unchanged: EINVAL unless there are 1 to 2^32
 * weights, all of them finite and not below 0, and one of them above 0, in another place than
 * `table`; EFAULT if `weights` or
 * `table` is NULL, or the arrays take more than SSIZE_MAX bytes. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_alias_table(const double *weights, size_t outcomes, struct headwater_alias *table);

/**
 * Writes numbers from 0 to below `outcomes`, with the weights of a table by
 * headwater_stream_alias_table(). Arguments and errors are those of headwater_stream_fill_u8();
 * EINVAL also means that `outcomes` is 0 or above 2^32, or that `table` is NULL or overlaps `out`.
 * Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_categorical_u64(const struct headwater_key *key, uint64_t stream, const struct headwater_alias *table, size_t outcomes, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes the elements of headwater_stream_fill_categorical_u64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `outcomes` is
 * 0 or above 2^32, or that `table` is NULL or overlaps `out`. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_categorical_u64_at(const struct headwater_key *key, uint64_t stream, const struct headwater_alias *table, size_t outcomes, const uint64_t *indices, uint64_t *out, size_t n);

/**
 * Writes Dirichlet vectors: `dimension` shares that add up to 1, whose means are in proportion to
 * `alpha`. Vector i + 1 follows vector i in `out`, which has room for `n` vectors. Arguments and
 * errors are those of headwater_stream_fill_u8(), with vectors as elements; EINVAL also means that
 * `dimension` is 0, `alpha` is NULL or overlaps `out`, or a number of it is not above 0 or above
 * 2^900. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_dirichlet_f64(const struct headwater_key *key, uint64_t stream, const double *alpha, size_t dimension, uint64_t start, double *out, size_t n);

/**
 * Writes the vectors of headwater_stream_fill_dirichlet_f64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(), with vectors as elements; EINVAL
 * also means that `dimension` is 0, `alpha` is NULL or overlaps `out`, or a number of it is not
 * above 0 or above 2^900. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_dirichlet_f64_at(const struct headwater_key *key, uint64_t stream, const double *alpha, size_t dimension, const uint64_t *indices, double *out, size_t n);

/**
 * Makes the table of `outcomes` weights for headwater_stream_fill_multinomial_u64(), the same on
 * every machine. The weights need not add up to 1.
 *
 * Returns 0, or -1 with errno set and `table` unchanged: EINVAL unless there is a weight, all are
 * finite and not below 0, their sum is finite and above 0, and `table` is another array; EFAULT if
 * `weights` or `table` is NULL, or an array takes more than SSIZE_MAX bytes. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_multinomial_table(const double *weights, size_t outcomes, double *table);

/**
 * Writes multinomial vectors: how many of `trials` trials have each of `outcomes` outcomes, with
 * the weights of a table by headwater_stream_multinomial_table(). Vector i + 1 follows vector i in
 * `out`, which has room for `n` vectors. Arguments and errors are those of
 * headwater_stream_fill_u8(), with vectors as elements; EINVAL also means that `outcomes` is 0,
 * `table` is NULL or overlaps `out`, or a number of it is not from 0 to 1. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_multinomial_u64(const struct headwater_key *key, uint64_t stream, uint64_t trials, const double *table, size_t outcomes, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes the vectors of headwater_stream_fill_multinomial_u64() with the numbers in `indices`.
 * Arguments and errors are those of headwater_stream_u8_at(), with vectors as elements; EINVAL
 * also means that `outcomes` is 0, `table` is NULL or overlaps `out`, or a number of it is not
 * from 0 to 1. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_multinomial_u64_at(const struct headwater_key *key, uint64_t stream, uint64_t trials, const double *table, size_t outcomes, const uint64_t *indices, uint64_t *out, size_t n);

/**
 * Computes the Cholesky factor of a covariance for
 * headwater_stream_fill_multivariate_normal_f64(), the same on every machine. Both are squares of
 * `dimension` rows, one after the other. Since a covariance is symmetric, only its lower triangle
 * is read. It may be semidefinite. Row j of the factor has the weights of normal number j in each
 * component.
 *
 * Returns 0, or -1 with errno set: EINVAL if `dimension` is 0, or the covariance is not finite or
 * not positive semidefinite, or `factor` overlaps it; EFAULT if a pointer is NULL, or a square
 * takes more than SSIZE_MAX bytes. `factor` has no meaning then. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_cholesky(const double *covariance, size_t dimension, double *factor);

/**
 * Writes normal vectors of `dimension` components with this mean, and with a covariance whose
 * factor headwater_stream_cholesky() has computed. Vector i + 1 follows vector i in `out`, which
 * has room for `n` vectors. Arguments and errors are those of headwater_stream_fill_u8(), with
 * vectors as elements; EINVAL also means that `dimension` is 0, `mean` or `factor` is NULL or
 * overlaps `out`, or a number in them is not finite. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_multivariate_normal_f64(const struct headwater_key *key, uint64_t stream, const double *mean, const double *factor, size_t dimension, uint64_t start, double *out, size_t n);

/**
 * Writes the vectors of headwater_stream_fill_multivariate_normal_f64() with the numbers in
 * `indices`. Arguments and errors are those of headwater_stream_u8_at(), with vectors as elements;
 * EINVAL also means that `dimension` is 0, `mean` or `factor` is NULL or overlaps `out`, or a
 * number in them is not finite. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_multivariate_normal_f64_at(const struct headwater_key *key, uint64_t stream, const double *mean, const double *factor, size_t dimension, const uint64_t *indices, double *out, size_t n);

/**
 * Writes points of Sobol's sequence, scrambled by the stream if `scrambled` is not 0, and
 * otherwise the same for every stream. Vector i + 1 follows vector i in `out`, which has room for
 * `n` vectors. Arguments and errors are those of headwater_stream_fill_u8(), with vectors as
 * elements; EINVAL also means that `dimension` is not from 1 to 1111, and ERANGE a point from 2^53
 * on. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_sobol_f64(const struct headwater_key *key, uint64_t stream, size_t dimension, int scrambled, uint64_t start, double *out, size_t n);

/**
 * Writes the vectors of headwater_stream_fill_sobol_f64() with the numbers in `indices`. Arguments
 * and errors are those of headwater_stream_u8_at(), with vectors as elements; EINVAL also means
 * that `dimension` is not from 1 to 1111, and ERANGE a point from 2^53 on. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_sobol_f64_at(const struct headwater_key *key, uint64_t stream, size_t dimension, int scrambled, const uint64_t *indices, double *out, size_t n);

/**
 * Fills `buf` with `len` fast random bytes, for sampling, backoff, jitter and test data. Not for
 * secrets.
 *
 * Each process has one key, from headwater_fill(), and each CPU a counter. The engine ars7 turns
 * counters into blocks (Philox where the CPU has no AES instructions), so no block of a process
 * repeats. A forked child makes a key of its own, but a cloned or restored virtual machine repeats
 * the numbers.
 *
 * Returns 0, or -1 with errno set as headwater_fill() does, and `buf` all zeros.
 * Async-signal-safe. On success errno keeps its value.
 */
HEADWATER_MUST_USE int headwater_random_pseudo_bytes(void *buf, size_t len);

/**
 * Makes a column of numbers of a kind: in each row the element of stream 0 whose index is the
 * row's id. So a row has one number, whatever the batches, threads and order in which an engine
 * passes it. Not for secrets.
 *
 * `ids` is a column of integers of 8 to 64 bits, also by a dictionary, or of decimals without
 * digits after the point. `name` is the column's name and label: its stream belongs to the child
 * of the key with this text as label. If `name` is NULL, it belongs to the child that has the name
 * of the kind in Python as bytes for its label, such as "standard_normal" or "gamma".
 *
 * `kind` is a name of docs/distributions.md, such as "normal", whose parameters are numbers, of
 * which `parameters` has all, in the order of that table. `type` is "float64" and the like, or
 * NULL for the kind's first one. Kinds of vectors make lists of one length.
 *
 * Returns 0, or -1 with errno set, both results empty and a sentence in `message`, unless that is
 * NULL:
 *
 *     EINVAL  a column, kind, type, parameter or flag is wrong; the key's engine is unknown
 *     ERANGE  an id is negative or past the end of the stream
 *     EFAULT  a pointer that must not be NULL is
 *     ENOMEM  there is no memory for the column
 *
 * The caller keeps `schema` and `ids`, and releases the results. Not async-signal-safe, because it
 * calls malloc(3). Takes up to 64 KiB of stack.
 */
HEADWATER_MUST_USE int headwater_arrow_draw(const struct headwater_key *key, const char *name, const char *kind, const char *type, const double *parameters, size_t n, uint32_t flags, const struct ArrowSchema *schema, const struct ArrowArray *ids, struct ArrowSchema *out_schema, struct ArrowArray *out, char *message);

/**
 * Makes a column of numbers of a kind as headwater_arrow_draw() does, with parameters that may
 * differ from row to row. A row's number equals the one that headwater_arrow_draw() makes of its
 * id and of its parameters.
 *
 * `schemas` and `columns` have a pointer for each of the `n` parameters: to a column with as many
 * rows as `ids`, of integers, booleans, decimals without digits after the point, or, where the
 * parameter does not count, floats of 32 or 64 bits. Or both are NULL, and all rows have the
 * number that `parameters` has at this place; no other number is read there, and `parameters` may
 * be NULL if all are columns. The ends of "integers" and the length of "permutation" are no
 * columns. A row with a null parameter is null, or an error if `flags` refuses nulls. Rows with
 * equal parameters that follow each other are drawn at once.
 *
 * Kinds of vectors and complex numbers are EINVAL. Other arguments and errors are those of
 * headwater_arrow_draw(); that of a value in a column names its row, and the value if it counts.
 * Without a row, a number beside a column is not looked at.
 */
HEADWATER_MUST_USE int headwater_arrow_draw_by_row(const struct headwater_key *key, const char *name, const char *kind, const char *type, const double *parameters, const struct ArrowSchema *const *schemas, const struct ArrowArray *const *columns, size_t n, uint32_t flags, const struct ArrowSchema *schema, const struct ArrowArray *ids, struct ArrowSchema *out_schema, struct ArrowArray *out, char *message);

/**
 * Makes a column of bits: true in each row with the probability `p`. A row that is true for one
 * `p` is so for every larger one. The stream belongs to a child of the key of its own, and if
 * `name` is not NULL, to the child of that with this label. Other arguments and errors are those
 * of headwater_arrow_draw().
 */
HEADWATER_MUST_USE int headwater_arrow_sample(const struct headwater_key *key, const char *name, double p, uint32_t flags, const struct ArrowSchema *schema, const struct ArrowArray *ids, struct ArrowSchema *out_schema, struct ArrowArray *out, char *message);

/**
 * Makes a column of bytes: the number of each row's part, from 0, of `parts` parts (1 to 256).
 * `shares` has their probabilities, which add up to 1, or is NULL for equal parts. A row keeps its
 * part when rows are added. Other arguments and errors are those of headwater_arrow_sample().
 */
HEADWATER_MUST_USE int headwater_arrow_split(const struct headwater_key *key, const char *name, const double *shares, size_t parts, uint32_t flags, const struct ArrowSchema *schema, const struct ArrowArray *ids, struct ArrowSchema *out_schema, struct ArrowArray *out, char *message);

/**
 * Makes a column of words of 64 bits to sort by: rows sorted by the word, and by their id where
 * two are equal, are a shuffle, and the first k of them a sample of exactly k rows. Arguments and
 * errors are those of headwater_arrow_sample().
 */
HEADWATER_MUST_USE int headwater_arrow_order(const struct headwater_key *key, const char *name, uint32_t flags, const struct ArrowSchema *schema, const struct ArrowArray *ids, struct ArrowSchema *out_schema, struct ArrowArray *out, char *message);

/**
 * Makes a column of ids, from 0 to 2^63 - 1, of a column of text, binary values, integers,
 * booleans, dates or timestamps, or of a batch (a struct) of up to 16 such columns: half of what
 * Spark's xxhash64() returns for the values as `bigint`, `string` and so on. Nulls are left out,
 * and a row of nulls is null. Two rows of n share an id with a chance of n^2 / 2^64. The arguments
 * and errors are those of headwater_arrow_sample().
 *
 * The struct has no nulls and no offset of its own, and columns of its own length: make a batch of
 * the columns' slices, and no slice of a struct.
 */
HEADWATER_MUST_USE int headwater_arrow_key_of(uint32_t flags, const struct ArrowSchema *schema, const struct ArrowArray *values, struct ArrowSchema *out_schema, struct ArrowArray *out, char *message);

#ifdef __cplusplus
}  /* extern "C" */
#endif  /* __cplusplus */

#endif  /* HEADWATER_H */
