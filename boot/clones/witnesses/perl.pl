# Witness for Perl: shows which random sources repeat in copies of a warm process.
#
# Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
# is copied while it waits, and each copy draws for itself; whoever started it compares them.
# HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws` and the scratch directory.
#
# Core modules only: each of the few identifiers modules outside the core has its own generator.

use strict;
use warnings;

use constant { WARM_UPS => 5, DRAWS => 8, POLL_S => 0.005 };

my $home = $ENV{HEADWATER_WITNESS_DIR} // die "perl witness: HEADWATER_WITNESS_DIR is not set\n";
my $scratch = "$home/scratch";

my @skipped;

sub skip {
    my ($name, $reason) = @_;
    $reason =~ s/\s+/ /g;
    push @skipped, "skipped\tperl/$name\t$reason";
}

# What every Perl program without a module for it does.
sub from_device {
    open my $device, '<:raw', '/dev/urandom' or die "/dev/urandom: $!\n";
    sysread($device, my $bytes, 16) == 16 or die "/dev/urandom: $!\n";
    close $device;
    return unpack 'H*', $bytes;
}

# Deleted at once: a name still taken makes the next copy try another one, and that retry would
# hide a repeat.
sub temporary_name {
    my ($handle, $path) = File::Temp::tempfile('XXXXXXXXXX', DIR => $scratch);
    close $handle;
    unlink $path;
    return substr $path, 1 + length $scratch;
}

my @sources = (
    # The kernel first: only its first draws are sure to be the same in each copied machine.
    ['dev-urandom' => \&from_device],
    [rand => sub { sprintf '%.17g', rand }],
);
if (eval { require List::Util; 1 }) {
    push @sources, ['List::Util::shuffle' => sub { join '-', List::Util::shuffle(1 .. 20) }];
}
else {
    skip('List::Util::shuffle', $@);
}
if (eval { require File::Temp; 1 }) {
    push @sources, ['File::Temp' => \&temporary_name];
}
else {
    skip('File::Temp', $@);
}

# Made once per process and kept for its whole life.
my %kept = map { $_ => 1 } 'aa' .. 'bz';
my @identities = (['hash order' => sub { join '-', keys %kept }]);
if (eval { require Hash::Util; 1 }) {
    push @identities, ['hash seed' => sub { unpack 'H*', Hash::Util::hash_seed() }];
}
else {
    skip('hash seed', $@);
}

# Written under another name first, so that nobody reads half of it.
sub publish {
    my ($name, @lines) = @_;
    open my $file, '>', "$home/$name.tmp" or die "$name: $!\n";
    print {$file} map { "$_\n" } @lines or die "$name: $!\n";
    close $file or die "$name: $!\n";
    rename "$home/$name.tmp", "$home/$name" or die "$name: $!\n";
}

sub draw {
    return map { "perl/$_->[0]\t" . $_->[1]->() } @_;
}

sub witness {
    mkdir $scratch;
    draw(@sources) for 1 .. WARM_UPS;
    draw(@identities);

    publish('ready', sprintf('Perl %vd', $^V), @skipped);
    until (-e "$home/go") {
        return unless -e "$home/ready";    # The planter gave up; nobody would ever say go.
        select undef, undef, undef, POLL_S;
    }

    publish('draws', (map { draw(@sources) } 1 .. DRAWS), draw(@identities));
}

eval { witness(); 1 } or die "perl witness: $@";
