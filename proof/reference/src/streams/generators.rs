//! Sequential engines, as their authors' papers and programs say them, and jumps by matrices.

/// Returns the next word of xoshiro256++ (Blackman and Vigna, `xoshiro256plusplus.c`).
pub fn xoshiro256pp(s: &mut [u64; 4]) -> u64 {
    let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
    let t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3].rotate_left(45);
    result
}

/// Returns the next word of xorshift128+ with the shifts 23, 18, 5 (Vigna, `xorshift128plus.c` of
/// 2015).
pub fn xorshift128p(s: &mut [u64; 2]) -> u64 {
    let mut s1 = s[0];
    let s0 = s[1];
    s[0] = s0;
    s1 ^= s1 << 23;
    s[1] = s1 ^ s0 ^ (s1 >> 18) ^ (s0 >> 5);
    s[1].wrapping_add(s0)
}

/// Returns the effect of `2^power` steps on the state of a linear generator: a matrix over GF(2),
/// by columns.
///
/// The matrix of one step has the step's effect on each unit vector as its columns, and is squared.
pub fn jump<const N: usize>(step: fn(&mut [u64; N]) -> u64, power: u32) -> Vec<[u64; N]> {
    let mut columns: Vec<[u64; N]> = (0..64 * N)
        .map(|bit| {
            let mut unit = [0; N];
            unit[bit / 64] = 1 << (bit % 64);
            step(&mut unit);
            unit
        })
        .collect();
    for _ in 0..power {
        columns = columns.iter().map(|column| times(&columns, *column)).collect();
    }
    columns
}

/// Multiplies a matrix, stored by columns, by a vector.
pub fn times<const N: usize>(columns: &[[u64; N]], vector: [u64; N]) -> [u64; N] {
    let mut product = [0; N];
    for (bit, column) in columns.iter().enumerate() {
        if vector[bit / 64] >> (bit % 64) & 1 == 1 {
            for (sum, term) in product.iter_mut().zip(column) {
                *sum ^= term;
            }
        }
    }
    product
}

/// Returns the characteristic polynomial of a linear generator, without its leading term, from the
/// lowest bit of its first word.
///
/// Berlekamp and Massey's algorithm finds the shortest recurrence of those bits; where that is as
/// long as the state, it is the characteristic polynomial.
///
/// # Panics
///
/// If the recurrence is shorter than the state.
pub fn characteristic<const N: usize>(step: fn(&mut [u64; N]) -> u64) -> [u64; N] {
    let mut state = [1; N];
    let bits: Vec<bool> = (0..128 * N)
        .map(|_| {
            let bit = state[0] & 1 == 1;
            step(&mut state);
            bit
        })
        .collect();
    let (mut recurrence, mut before) = (vec![true], vec![true]);
    let (mut length, mut since) = (0, 1);
    for n in 0..bits.len() {
        let terms = recurrence.iter().enumerate().filter(|(i, term)| **term && bits[n - i]);
        if terms.count() % 2 == 0 {
            since += 1;
            continue;
        }
        let former = recurrence.clone();
        recurrence.resize(recurrence.len().max(before.len() + since), false);
        for (i, term) in before.iter().enumerate() {
            recurrence[i + since] ^= term;
        }
        if 2 * length <= n {
            length = n + 1 - length;
            (before, since) = (former, 1);
        } else {
            since += 1;
        }
    }
    assert_eq!(length, 64 * N, "the bits have a shorter recurrence than the state");
    recurrence.resize(length + 1, false);
    let mut polynomial = [0; N];
    for (i, _) in recurrence.iter().enumerate().skip(1).filter(|(_, term)| **term) {
        // The coefficient of the bit `i` places back is that of x^(length - i).
        polynomial[(length - i) / 64] |= 1 << ((length - i) % 64);
    }
    polynomial
}

/// Returns the next word of PCG64DXSM (O'Neill; NumPy).
pub fn pcg64dxsm(state: &mut u128, increment: u128) -> u64 {
    let multiplier = 0xda94_2042_e4dd_58b5;
    let mut high = (*state >> 64) as u64;
    let low = *state as u64 | 1;
    high ^= high >> 32;
    high = high.wrapping_mul(multiplier);
    high ^= high >> 48;
    high = high.wrapping_mul(low);
    *state = state.wrapping_mul(u128::from(multiplier)).wrapping_add(increment);
    high
}

/// Returns the next word of SFC64 (Doty-Humphrey, PractRand). The last of the four is a counter.
pub fn sfc64(s: &mut [u64; 4]) -> u64 {
    let result = s[0].wrapping_add(s[1]).wrapping_add(s[3]);
    s[3] = s[3].wrapping_add(1);
    s[0] = s[1] ^ (s[1] >> 11);
    s[1] = s[2].wrapping_add(s[2] << 3);
    s[2] = s[2].rotate_left(24).wrapping_add(result);
    result
}

/// Returns NumPy's `SeedSequence(entropy, spawn_key=spawn_key).generate_state(n)`, words of 32 bits
/// (`bit_generator.pyx`).
pub fn seed_sequence(entropy: &[u32], spawn_key: &[u32], n: usize) -> Vec<u32> {
    let mut words = entropy.to_vec();
    if !spawn_key.is_empty() {
        while words.len() < 4 {
            words.push(0);
        }
    }
    words.extend(spawn_key);
    let mut constant = 0x43b0_d7e5_u32;
    let mut hashmix = |value: u32| {
        let value = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        let value = value.wrapping_mul(constant);
        value ^ (value >> 16)
    };
    let mix = |x: u32, y: u32| {
        let result = x.wrapping_mul(0xca01_f9dd).wrapping_sub(y.wrapping_mul(0x4973_f715));
        result ^ (result >> 16)
    };
    let mut pool = [0; 4];
    for (i, place) in pool.iter_mut().enumerate() {
        *place = hashmix(*words.get(i).unwrap_or(&0));
    }
    for source in 0..4 {
        for target in 0..4 {
            if source != target {
                pool[target] = mix(pool[target], hashmix(pool[source]));
            }
        }
    }
    for word in words.iter().skip(4) {
        for target in &mut pool {
            *target = mix(*target, hashmix(*word));
        }
    }
    let mut constant = 0x8b51_f9dd_u32;
    (0..n)
        .map(|i| {
            let value = pool[i % 4] ^ constant;
            constant = constant.wrapping_mul(0x58f3_8ded);
            let value = value.wrapping_mul(constant);
            value ^ (value >> 16)
        })
        .collect()
}

/// Returns the same as words of 64 bits, the lower half first.
fn seed_sequence_u64(entropy: &[u32], spawn_key: &[u32], n: usize) -> Vec<u64> {
    let halves = seed_sequence(entropy, spawn_key, 2 * n);
    (0..n).map(|i| u64::from(halves[2 * i + 1]) << 32 | u64::from(halves[2 * i])).collect()
}

/// Returns state and increment of NumPy's `PCG64DXSM` from this sequence (`pcg64_set_seed`).
pub fn pcg64dxsm_seeded(entropy: &[u32], spawn_key: &[u32]) -> (u128, u128) {
    let words = seed_sequence_u64(entropy, spawn_key, 4);
    let initial = u128::from(words[0]) << 64 | u128::from(words[1]);
    let increment = (u128::from(words[2]) << 64 | u128::from(words[3])) << 1 | 1;
    let multiplier = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645_u128;
    // From state 0: a step, the seed added, a step.
    let state = increment.wrapping_add(initial);
    (state.wrapping_mul(multiplier).wrapping_add(increment), increment)
}

/// Returns the state of NumPy's `SFC64` from this sequence (`sfc64_set_seed`).
pub fn sfc64_seeded(entropy: &[u32], spawn_key: &[u32]) -> [u64; 4] {
    let words = seed_sequence_u64(entropy, spawn_key, 3);
    let mut state = [words[0], words[1], words[2], 1];
    for _ in 0..12 {
        sfc64(&mut state);
    }
    state
}
