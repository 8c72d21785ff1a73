<?php
// Renews PHP's random numbers in a copied process or machine, for scripts that run for long:
//
//     php -d auto_prepend_file=/usr/share/headwater-clones/php.php worker.php
//
// and in the worker, where a job begins:
//
//     Headwater\Clones\check();
//
// A script that was copied (CRIU, a cloned machine) continues mt_rand() and what draws from it, in
// every copy alike. PHP lets no script stand before its functions, so the worker has to ask. A web
// server needs none of this: PHP seeds mt_rand() anew in each request. docs/adapters.md says more.

declare(strict_types=1);

namespace Headwater\Clones;

/**
 * Seeds mt_rand() from the kernel if this process was copied since the last call, and returns
 * whether it was. Then make new engines of your own, too: new Random\Engine\Mt19937().
 *
 * A seed that the program has set is lost in a copy, as PHP does not say whether there is one.
 */
function check(): bool
{
    static $library = null, $word = null, $count = null, $seesMachines = false, $seen = null;
    if ($library === null) {
        if (!extension_loaded('FFI')) {
            throw new \RuntimeException(
                'headwater: PHP lacks its extension FFI; enable it (extension=ffi)'
            );
        }
        $library = \FFI::cdef(
            'uint8_t *headwater_clones_word(void); uint64_t *headwater_clones_count(void);'
            . ' uint64_t headwater_clones_copies(void); int headwater_clones_sees_machines(void);',
            file()
        );
        $seen = $library->headwater_clones_copies();
        $word = $library->headwater_clones_word();
        $count = $library->headwater_clones_count();
        $seesMachines = $library->headwater_clones_sees_machines() === 1;
        return false;
    }
    // Both are read in place, because a call takes longer; the count because a hook of the library
    // may have seen the copy, and set the byte again. Copies of machines are in neither.
    if ($word[0] === 1 && $count[0] === $seen && !$seesMachines) {
        return false;
    }
    $now = $library->headwater_clones_copies(); // sets the byte again
    if ($now === $seen) {
        return false;
    }
    mt_srand(random_int(0, 0xFFFFFFFF));
    $seen = $now;
    return true;
}

/** Returns the library's file. */
function file(): string
{
    $given = getenv('HEADWATER_CLONES_LIBRARY');
    if ($given !== false) {
        return $given;
    }
    $places = [__DIR__, '/usr/local/lib', ...glob('/usr/lib/*-linux-gnu'), '/usr/lib64', '/usr/lib'];
    foreach ($places as $place) {
        if (is_file("$place/libheadwater_clones.so")) {
            return "$place/libheadwater_clones.so";
        }
    }
    throw new \RuntimeException(
        'headwater: libheadwater_clones.so is in none of ' . implode(', ', $places)
        . '; name its file by HEADWATER_CLONES_LIBRARY'
    );
}

// Counting begins here, before the script has drawn. Servers forbid FFI, and need no renewal.
if (PHP_SAPI === 'cli') {
    check();
}
