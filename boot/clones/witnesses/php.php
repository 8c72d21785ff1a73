<?php
// Witness for PHP: shows which random sources repeat in copies of a warm process.
//
// Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
// is copied while it waits, and each copy draws for itself; whoever started it compares them.
// HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws` and the scratch directory.

declare(strict_types=1);

const WARM_UPS = 5;
const DRAWS = 8;
const POLL_US = 5000;

// A warning becomes an error: a source that only warns would otherwise print an empty value, which
// is the same in each copy and looks like a repeat.
set_error_handler(function (int $level, string $message): bool {
    throw new ErrorException($message);
});

function in_place(string $name): string
{
    return getenv('HEADWATER_WITNESS_DIR') . '/' . $name;
}

function shuffled(): string
{
    $deck = range(0, 19);
    shuffle($deck);
    return implode('-', $deck);
}

// Removed at once: a name still taken makes the next copy try another one, and that retry would
// hide a repeat.
function temporary_name(): string
{
    $path = tempnam(in_place('scratch'), 't');
    unlink($path);
    return basename($path);
}

// The cheapest hash there is, of which the 22 characters after its parameters are the salt.
function salt(): string
{
    return substr(password_hash('x', PASSWORD_BCRYPT, ['cost' => 4]), 7, 22);
}

/**
 * Lists the sources. Those of the kernel come first: in a copied machine only the first draws of
 * the kernel are sure to be the same in each copy.
 */
function candidates(): array
{
    $many = range(0, 255);
    $sources = [
        'random_bytes' => fn() => bin2hex(random_bytes(16)),
        'random_int' => fn() => random_int(0, PHP_INT_MAX),
        'password_hash salt' => fn() => salt(),
        'tempnam' => fn() => temporary_name(),
        'session_create_id' => fn() => session_create_id(),
        'sodium keygen' => fn() => bin2hex(sodium_crypto_secretbox_keygen()),
        'openssl_random_pseudo_bytes' => fn() => bin2hex(openssl_random_pseudo_bytes(16)),
        'mt_rand' => fn() => mt_rand() . '-' . mt_rand(),
        'rand' => fn() => rand() . '-' . rand(),
        'lcg_value' => fn() => sprintf('%.17g', lcg_value()),
        'shuffle' => fn() => shuffled(),
        'str_shuffle' => fn() => str_shuffle('abcdefghijklmnopqrstuvwxyz'),
        'array_rand' => fn() => implode('-', array_rand($many, 12)),
        // Without its option it is the clock; the option appends a random number.
        'uniqid' => fn() => uniqid(),
        'uniqid, more entropy' => fn() => substr(uniqid('', true), 13),
    ];
    // Engines that seed themselves, one of which stays in use as in a long-lived worker.
    foreach (['Secure', 'Mt19937', 'Xoshiro256StarStar', 'PcgOneseq128XslRr64'] as $engine) {
        $class = 'Random\\Engine\\' . $engine;
        $kept = class_exists($class) ? new Random\Randomizer(new $class()) : null;
        $sources["Randomizer $engine, kept"] = function () use ($kept) {
            if ($kept === null) {
                throw new RuntimeException('needs PHP 8.2');
            }
            return bin2hex($kept->getBytes(16));
        };
    }
    return $sources;
}

// Written under another name first, so that nobody reads half of it.
function publish(string $name, array $lines): void
{
    file_put_contents(in_place("$name.tmp"), implode("\n", $lines) . "\n");
    rename(in_place("$name.tmp"), in_place($name));
}

function witness(): void
{
    if (!is_dir(in_place('scratch'))) {
        mkdir(in_place('scratch'));
    }

    // The first warm-up also finds out which extensions are there.
    $sources = [];
    $skipped = [];
    foreach (candidates() as $name => $draw) {
        try {
            $draw();
            $sources[$name] = $draw;
        } catch (Throwable $error) {
            $reason = preg_replace('/\s+/', ' ', $error->getMessage());
            $skipped[] = "skipped\tphp/$name\t$reason";
        }
    }
    for ($round = 1; $round < WARM_UPS; $round++) {
        foreach ($sources as $draw) {
            $draw();
        }
    }

    publish('ready', array_merge(['PHP ' . PHP_VERSION], $skipped));
    // PHP remembers what it learned of a file; without clearing it would never see `go`.
    for (; !file_exists(in_place('go')); clearstatcache()) {
        if (!file_exists(in_place('ready'))) {
            return; // The planter gave up; nobody would ever say go.
        }
        usleep(POLL_US);
    }

    // A worker that loads headwater's php.php asks where its work begins. Something may have drawn
    // before, and the library that renews OpenSSL then knows of the copy.
    if (function_exists('Headwater\\Clones\\check')) {
        openssl_random_pseudo_bytes(1);
        Headwater\Clones\check();
    }
    $lines = [];
    for ($round = 0; $round < DRAWS; $round++) {
        foreach ($sources as $name => $draw) {
            $lines[] = "php/$name\t" . $draw();
        }
    }
    publish('draws', $lines);
}

try {
    witness();
} catch (Throwable $error) {
    fwrite(STDERR, 'php witness: ' . $error->getMessage() . "\n");
    exit(1);
}
