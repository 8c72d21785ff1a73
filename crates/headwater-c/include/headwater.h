/*
 * headwater: secure random bytes at memory speed, exactly as fresh as the kernel's, and safer than
 * the kernel's across fork, VM clone and restore.
 *
 *     unsigned char key[32];
 *     if (headwater_fill(key, sizeof key) != 0)
 *         err(1, "no random bytes");
 *
 * Link with -lheadwater (pkg-config headwater; CMake: find_package(headwater),
 * headwater::headwater). C99 and C++11, and later.
 *
 * Errors
 *     Never a weaker byte in place of an error: what cannot be filled is zeroed, and errno says why.
 *     Only two things fail in practice: a call with GRND_NONBLOCK early at boot (EAGAIN), and a
 *     sandbox that takes both getrandom(2) and /dev/urandom away.
 *
 * Threads
 *     Every function may be called from every thread at the same time; a headwater_rng and a stamp
 *     are for one thread at a time. No thread-locals: a thread costs nothing, and its exit runs
 *     nothing.
 *
 * Signals
 *     Async-signal-safe, first call included, are all functions but headwater_rng_new(),
 *     headwater_rng_free() and headwater_quiesce(). None is a cancellation point.
 *
 * Forks
 *     A child made by fork, vfork or clone, from a handler or not, never sees its parent's bytes.
 *     There is nothing to be called after a fork.
 *
 * Before main and after it
 *     Constructors, destructors, atexit(3) and pthread_key_create(3) handlers may draw. The library
 *     is never unmapped: dlclose(3) leaves it where it is.
 *
 * Streams
 *     headwater_stream_...() give numbers that follow from a seed, the same on every machine, and
 *     headwater_random_pseudo_bytes() such as are quick: neither is for secrets. Streams are
 *     functions without a state, and a forked child gets the numbers of its parent.
 *
 * Environment
 *     HEADWATER_MODE = auto (default), buffered, hedged, strict or kernel; ignored in set-user-ID
 *     programs. An unknown value means strict, and shows in headwater_status_json().
 *     HEADWATER_NO_RSEQ = 1: draws take locks instead of restartable sequences, for debuggers and
 *     tracers that move code; ignored in set-user-ID programs.
 *
 * No function allocates but headwater_rng_new(). See headwater(3).
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

/**
 * The version of this header; headwater_version() tells that of the library.
 */
#define HEADWATER_VERSION_MAJOR 0

/**
 * Its second part, which grows with every change that a program could notice while the first is 0.
 */
#define HEADWATER_VERSION_MINOR 1

/**
 * Its third part.
 */
#define HEADWATER_VERSION_PATCH 0

/**
 * Engine `ars7`, the default: AES rounds, the fastest where the CPU has AES.
 */
#define HEADWATER_ARS7 0

/**
 * Engine `ars5`: the same with five rounds, as Intel's MKL has it.
 */
#define HEADWATER_ARS5 1

/**
 * Engine `philox4x32`: Philox4x32-10, the fastest where the CPU has no AES.
 */
#define HEADWATER_PHILOX4X32 2

/**
 * A generator of one's own: a page (4 KiB) of random bytes that no other thread draws from, so that
 * no lock is taken. The fastest way to draw, under the same guards as headwater_fill().
 *
 * For one thread at a time. A forked child may go on with its copy, and draws other bytes than its
 * parent.
 */
struct headwater_rng;

/**
 * What the numbers of 2^48 streams depend on. Not for secrets.
 *
 * A value: it may be copied, compared by its members, stored and sent. Nothing is to be freed, and
 * no function keeps a pointer to it. Make one with headwater_stream_key_from_seed() and the like;
 * by hand only to go on with one that was kept.
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

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Fills `buf` with `len` random bytes; waits, once after boot, until the kernel's generator is seeded.
 *
 * Any length, and never a part of it. With `len` 0 nothing happens, and `buf` may be NULL.
 *
 * Returns 0, or -1 with errno set and `buf` all zeros:
 *
 *     EFAULT  `buf` is NULL and `len` is not 0, or `len` is above SSIZE_MAX
 *     other   the kernel refuses random bytes altogether: getrandom(2) and /dev/urandom both
 *             failed, and this is the errno of the latter
 *
 * Async-signal-safe. errno is not touched on success.
 */
HEADWATER_MUST_USE int headwater_fill(void *buf, size_t len);

/**
 * As getrandom(2), from headwater's pools.
 *
 * `flags` are those of <sys/random.h>:
 *
 *     GRND_NONBLOCK (1)  do not wait until the kernel's generator is seeded: EAGAIN instead
 *     GRND_RANDOM (2)    the same bytes: Linux has had one generator since 5.6
 *     GRND_INSECURE (4)  does not wait either. Where the kernel would give bytes of a generator
 *                        that is not seeded, this says EAGAIN: there are no weaker bytes here
 *
 * Returns `len`, always all of it, or -1 with errno set and `buf` all zeros (EINVAL: as it was):
 *
 *     EAGAIN  as said above
 *     EFAULT  `buf` is NULL and `len` is not 0, or `len` is above SSIZE_MAX
 *     EINVAL  unknown flags, or GRND_RANDOM together with GRND_INSECURE
 *     other   as headwater_fill(); never EINTR
 *
 * Async-signal-safe. errno is not touched on success.
 */
HEADWATER_MUST_USE ssize_t headwater_getrandom(void *buf, size_t len, unsigned int flags);

/**
 * As getentropy(3), from headwater's pools. Waits as headwater_fill() does.
 *
 * Returns 0, or -1 with errno set:
 *
 *     EIO     `len` is above 256; `buf` is as it was
 *     other   as headwater_fill()
 *
 * Async-signal-safe. errno is not touched on success.
 */
HEADWATER_MUST_USE int headwater_getentropy(void *buf, size_t len);

/**
 * A new generator, to be freed by headwater_rng_free(); waits as headwater_fill() does.
 *
 * Returns NULL with errno set on an error: ENOMEM, or as headwater_fill().
 *
 * Not async-signal-safe: it calls malloc(3). Beyond 64 generators at a time it also maps memory.
 */
HEADWATER_MUST_USE struct headwater_rng *headwater_rng_new(void);

/**
 * Erases and frees a generator. NULL is fine.
 *
 * Not async-signal-safe: it calls free(3).
 */
void headwater_rng_free(struct headwater_rng *rng);

/**
 * Fills `buf` with `len` random bytes from a generator of one's own.
 *
 * Returns 0, or -1 with errno set as headwater_fill() does; EFAULT also if `rng` is NULL.
 *
 * Async-signal-safe for a generator that is the handler's own: a handler must not draw from one
 * that it may have interrupted.
 */
HEADWATER_MUST_USE int headwater_rng_fill(struct headwater_rng *rng, void *buf, size_t len);

/**
 * A random number of 32 bits.
 *
 * There is no way to tell of an error: where headwater_fill() would fail, this writes one line to
 * stderr and aborts the process.
 *
 * Async-signal-safe, unlike the function of the same name in the C library.
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
 * A random number below `upper_bound`, each equally likely; 0 if `upper_bound` is 0 or 1.
 *
 * Aborts as headwater_arc4random() does. Async-signal-safe.
 *
 * Method: D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019.
 */
HEADWATER_MUST_USE uint32_t headwater_arc4random_uniform(uint32_t upper_bound);

/**
 * A number that changes when something happens that nothing random that a program keeps must
 * survive: a reseed of the kernel (once a minute, or on request), a clone or restore of the VM, a
 * fork. 0 if this machine cannot tell.
 *
 * Compare it for inequality only. Async-signal-safe; a few loads, but for the first call of a
 * process, which sets up what headwater_init() does. errno is not touched.
 */
HEADWATER_MUST_USE uint64_t headwater_generation(void);

/**
 * Whether something happened, as headwater_generation() tells it, since `*stamp` was brought up to
 * date.
 *
 * For batches and short-lived caches of random values. Make the stamp 0, check it before each use
 * of what was drawn, and on anything but 0 throw that away and draw again:
 *
 *     static uint64_t stamp;
 *     if (headwater_stale(&stamp) != 0)
 *         draw_them_again();
 *
 * A copy of a stamp is a stamp, and several may be kept. In a forked child each is stale. A stamp
 * of 0 is always stale; any other first value is, but for a chance of 2^-64.
 *
 * Returns 1: something happened, and the stamp is now up to date; 0: nothing did; or -1: this
 * machine cannot tell, and nothing random must be kept (errno is not touched), or `stamp` is NULL
 * (errno is EFAULT).
 *
 * Async-signal-safe. A stamp is for one thread at a time, like what it guards.
 */
HEADWATER_MUST_USE int headwater_stale(uint64_t *stamp);

/**
 * Sets up now what the first draw would set up, and waits until the kernel's generator is seeded.
 *
 * Call it before a sandbox (seccomp, chroot, a private /proc) is entered: afterwards the only
 * system call is getrandom(2). Further calls do nothing.
 *
 * Returns 0, or -1 with errno set as headwater_fill() does. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_init(void);

/**
 * Makes the process checkpointable by CRIU, and lets the images differ: gives up the VMClock page
 * and every buffered byte. What is drawn afterwards is drawn afresh, in mode `strict`, for the rest
 * of the process.
 *
 * Returns 0, or -1 with errno set if the kernel refuses: to replace the VMClock page, and nothing has
 * changed then; or to drop some pages, and the others are empty then. Not async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_quiesce(void);

/**
 * The version of the library, such as "0.1.0". Async-signal-safe.
 */
HEADWATER_MUST_USE const char *headwater_version(void);

/**
 * Writes to `buf` what is armed in this process: the JSON document that `headwater status --json`
 * prints (schema headwater.status/1), on one line, cut to `len` bytes, of which the last is a NUL.
 *
 * As snprintf(3): returns the length of the whole document, without the NUL; if that is `len` or
 * more, it was cut. The length changes from call to call by a few digits; 4096 bytes always hold
 * it. With `len` 0, `buf` may be NULL. Returns -1 with errno EFAULT if `buf` is NULL and `len` is
 * not 0.
 *
 * Reads a handful of files, the kernel's log among them, which takes milliseconds. It allocates
 * nothing, takes 9 KiB of stack, and draws 1 byte, for which it does not wait. Async-signal-safe.
 * errno is not touched on success.
 */
HEADWATER_MUST_USE ssize_t headwater_status_json(char *buf, size_t len);

/**
 * Makes `*key` the key of a whole number, with the engine `engine`: the numbers that
 * `headwater stream --seed` gives for it. Not for secrets.
 *
 * Returns 0, or -1 with errno set and `*key` as it was: EINVAL if there is no such engine, EFAULT
 * if `key` is NULL. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_key_from_seed(struct headwater_key *key, uint32_t engine, uint64_t seed);

/**
 * Makes `*key` the key of `len` bytes, as of headwater stream --seed hex:... Not for secrets.
 *
 * Returns as headwater_stream_key_from_seed(); EFAULT also if `seed` is NULL and `len` is not 0.
 * Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_key_from_bytes(struct headwater_key *key, uint32_t engine, const void *seed, size_t len);

/**
 * Makes `*key` the key of a text, as of headwater stream --seed text:... Not for secrets.
 *
 * Returns as headwater_stream_key_from_seed(); EFAULT also if `seed` is NULL, EINVAL also if it is
 * not UTF-8. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_key_from_text(struct headwater_key *key, uint32_t engine, const char *seed);

/**
 * Makes `*child` the child number `label` of `*parent`, a function of the two and nothing else: for
 * each part of a program that wants numbers of its own. `child` and `parent` may be the same. Not
 * for secrets.
 *
 * Returns 0, or -1 with errno set and `*child` as it was: EINVAL if the parent's engine does not
 * exist, EFAULT if a pointer is NULL. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_key_child(struct headwater_key *child, const struct headwater_key *parent, uint64_t label);

/**
 * Makes `*child` the child of `*parent` with this name, which no number is equal to. Not for
 * secrets.
 *
 * Returns as headwater_stream_key_child(); EFAULT also if `label` is NULL, EINVAL also if it is not
 * UTF-8. Async-signal-safe.
 */
HEADWATER_MUST_USE int headwater_stream_key_child_text(struct headwater_key *child, const struct headwater_key *parent, const char *label);

/**
 * Writes bytes `start` to `start + n - 1` of stream number `stream` of `*key` to `out`. Element i
 * is a function of key, stream and i, whatever range is asked for, by whom, in what order. Not for
 * secrets.
 *
 * Returns 0, or -1 with errno set and `out` as it was:
 *
 *     EINVAL  the key's engine does not exist
 *     ERANGE  `stream` is 2^48 or more, or the range ends past 2^64 - 1
 *     EFAULT  `key` is NULL, or `out` is and `n` is not 0, or `n` elements are above SSIZE_MAX bytes
 *
 * Async-signal-safe. errno is not touched on success.
 */
HEADWATER_MUST_USE int headwater_stream_fill_u8(const struct headwater_key *key, uint64_t stream, uint64_t start, uint8_t *out, size_t n);

/**
 * As headwater_stream_fill_u8(), 32 bits each: the same bytes, the lowest first. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_u32(const struct headwater_key *key, uint64_t stream, uint64_t start, uint32_t *out, size_t n);

/**
 * As headwater_stream_fill_u8(), 64 bits each: the same bytes, the lowest first. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_u64(const struct headwater_key *key, uint64_t stream, uint64_t start, uint64_t *out, size_t n);

/**
 * As headwater_stream_fill_u8(), numbers from 0 to below 1, multiples of 2^-24. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_f32(const struct headwater_key *key, uint64_t stream, uint64_t start, float *out, size_t n);

/**
 * As headwater_stream_fill_u8(), numbers from 0 to below 1, multiples of 2^-53. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_f64(const struct headwater_key *key, uint64_t stream, uint64_t start, double *out, size_t n);

/**
 * As headwater_stream_fill_u8(), normal numbers, mean 0 and variance 1 (Box and Muller), the same
 * bits on every machine. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_normal_f32(const struct headwater_key *key, uint64_t stream, uint64_t start, float *out, size_t n);

/**
 * As headwater_stream_fill_normal_f32(), doubles. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_normal_f64(const struct headwater_key *key, uint64_t stream, uint64_t start, double *out, size_t n);

/**
 * As headwater_stream_fill_u8(), exponential numbers with mean 1, the same bits on every machine.
 * Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_exponential_f64(const struct headwater_key *key, uint64_t stream, uint64_t start, double *out, size_t n);

/**
 * As headwater_stream_fill_u8(), whole numbers below `bound`, each equally likely; EINVAL also if
 * `bound` is 0. Not for secrets.
 */
HEADWATER_MUST_USE int headwater_stream_fill_bounded_u64(const struct headwater_key *key, uint64_t stream, uint64_t bound, uint64_t start, uint64_t *out, size_t n);

/**
 * Writes to `*value` where element `i` goes in the stream's permutation of the numbers below `n`,
 * without making a list of the others: each of these comes for exactly one `i`. Not for secrets.
 *
 * Returns 0, or -1 with errno set and `*value` as it was: ERANGE also if `i` is not below `n`,
 * otherwise as headwater_stream_fill_u8(). Async-signal-safe; each call prepares the permutation
 * anew, which takes a hundred nanoseconds or two.
 */
HEADWATER_MUST_USE int headwater_stream_perm_at(const struct headwater_key *key, uint64_t stream, uint64_t n, uint64_t i, uint64_t *value);

/**
 * Fills `buf` with `len` bytes that nobody has to repeat and nobody has to be kept from guessing,
 * as quickly as a generator of one's own, with nothing to keep: for sampling, backoff, jitter, test
 * data. Not for secrets: whoever sees 32 bytes in a row can compute the next.
 *
 * One state of xoshiro256++ for each CPU, all seeded once by headwater_fill() and 2^192 words
 * apart. A forked child starts its own from fresh seeds; a virtual machine that is cloned or
 * restored repeats them.
 *
 * Returns 0, or -1 with errno set as headwater_fill() does, and `buf` all zeros.
 * Async-signal-safe. errno is not touched on success.
 */
HEADWATER_MUST_USE int headwater_random_pseudo_bytes(void *buf, size_t len);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HEADWATER_H */
