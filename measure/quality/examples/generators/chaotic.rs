//! Nonlinear mixing of a state, without a proof of a period.

use super::{Generator, Numbers, Seeds, generator, u8s, u16s, u32s, u64s};

pub(super) const ALL: &[Generator] = &[
    generator("jsf32", "Jenkins 2007: 27, 17", jsf32),
    generator("jsf8", "the same on four bytes: 1, 4", jsf8),
    generator("sfc64", "Doty-Humphrey 2010: three words and a counter", sfc64),
    generator("sfc16", "Doty-Humphrey 2010, 16 bits", sfc16),
    generator("sfc8", "Doty-Humphrey 2010, 8 bits", sfc8),
    generator("romumono32", "Overton 2020: one 32-bit word, multiplied and rotated", romumono32),
    generator("romuduojr", "Overton 2020: two words", romuduojr),
    generator("romutrio", "Overton 2020: three words", romutrio),
    generator("logistic-map", "x to 4 x (1 - x) in doubles; 8 bits of the angle", logistic),
    generator("von-neumann", "1949: the middle of a square, 64 bits, 32 out", von_neumann),
    generator("rc4", "Rivest 1987, key of 16 bytes", rc4),
    generator("isaac-like-8", "Jenkins 1996: ISAAC of 8-bit words", isaac8),
];

fn jsf32(seed: u64) -> Numbers {
    let (mut a, mut b, mut c, mut d) = (0xF1EA_5EED_u32, seed as u32, seed as u32, seed as u32);
    let mut next = move || {
        let e = a.wrapping_sub(b.rotate_left(27));
        a = b ^ c.rotate_left(17);
        b = c.wrapping_add(d);
        c = d.wrapping_add(e);
        d = e.wrapping_add(a);
        d
    };
    (0..20).for_each(|_| {
        next();
    });
    u32s(next)
}

fn jsf8(seed: u64) -> Numbers {
    let [a, b, c, d, ..] = Seeds(seed).next().to_le_bytes();
    let (mut a, mut b, mut c, mut d) = (a, b, c, d);
    u8s(move || {
        let e = a.wrapping_sub(b.rotate_left(1));
        a = b ^ c.rotate_left(4);
        b = c.wrapping_add(d);
        c = d.wrapping_add(e);
        d = e.wrapping_add(a);
        d
    })
}

fn sfc64(seed: u64) -> Numbers {
    let ([mut a, mut b, mut c], mut counter) = (Seeds(seed).words(), 1_u64);
    u64s(move || {
        let result = a.wrapping_add(b).wrapping_add(counter);
        counter = counter.wrapping_add(1);
        a = b ^ (b >> 11);
        b = c.wrapping_add(c << 3);
        c = c.rotate_left(24).wrapping_add(result);
        result
    })
}

fn sfc16(seed: u64) -> Numbers {
    let [mut a, mut b, mut c] = Seeds(seed).words().map(|s: u64| s as u16);
    let mut counter = 1_u16;
    u16s(move || {
        let result = a.wrapping_add(b).wrapping_add(counter);
        counter = counter.wrapping_add(1);
        a = b ^ (b >> 5);
        b = c.wrapping_add(c << 3);
        c = c.rotate_left(6).wrapping_add(result);
        result
    })
}

fn sfc8(seed: u64) -> Numbers {
    let [mut a, mut b, mut c] = Seeds(seed).words().map(|s: u64| s as u8);
    let mut counter = 1_u8;
    u8s(move || {
        let result = a.wrapping_add(b).wrapping_add(counter);
        counter = counter.wrapping_add(1);
        a = b ^ (b >> 2);
        b = c.wrapping_add(c << 1);
        c = c.rotate_left(3).wrapping_add(result);
        result
    })
}

fn romumono32(seed: u64) -> Numbers {
    let mut state = (Seeds(seed).half() & 0x1FFF_FFFF) + 1_156_979_152;
    u16s(move || {
        let result = (state >> 16) as u16;
        state = state.wrapping_mul(3_611_795_771).rotate_left(12);
        result
    })
}

fn romuduojr(seed: u64) -> Numbers {
    let [mut x, mut y] = Seeds(seed).words();
    u64s(move || {
        let result = x;
        x = y.wrapping_mul(15_241_094_284_759_029_579);
        y = y.wrapping_sub(result).rotate_left(27);
        result
    })
}

fn romutrio(seed: u64) -> Numbers {
    let [mut x, mut y, mut z] = Seeds(seed).words();
    u64s(move || {
        let (xp, yp, zp) = (x, y, z);
        x = zp.wrapping_mul(15_241_094_284_759_029_579);
        y = yp.wrapping_sub(xp).rotate_left(12);
        z = zp.wrapping_sub(yp).rotate_left(44);
        xp
    })
}

/// Returns the numbers of the logistic map as angles, because the angle makes the map's numbers
/// uniform.
fn logistic(seed: u64) -> Numbers {
    let mut x = (Seeds(seed).next() >> 12) as f64 / 2_f64.powi(52);
    u8s(move || {
        x = 4.0 * x * (1.0 - x);
        if x <= 0.0 || x >= 1.0 {
            x = 0.3;
        }
        (x.sqrt().asin() * (2.0 / std::f64::consts::PI) * 256.0) as u8
    })
}

/// Returns bits from the middle of repeated squares of a 64-bit word. The seed is added to the word
/// when its upper half reaches 0.
fn von_neumann(seed: u64) -> Numbers {
    let start = Seeds(seed).next() | 1;
    let mut x = start;
    u32s(move || {
        x = ((u128::from(x) * u128::from(x)) >> 32) as u64;
        if x >> 32 == 0 {
            x = start.wrapping_add(x);
        }
        (x >> 16) as u32
    })
}

fn rc4(seed: u64) -> Numbers {
    let [one, other] = Seeds(seed).words().map(u64::to_le_bytes);
    u8s(rc4_of(&[one, other].concat()))
}

pub(super) fn rc4_of(key: &[u8]) -> impl FnMut() -> u8 + 'static {
    let mut s: [u8; 256] = std::array::from_fn(|i| i as u8);
    let (mut i, mut j) = (0_u8, 0_u8);
    for place in 0..256 {
        j = j.wrapping_add(s[place]).wrapping_add(key[place % key.len()]);
        s.swap(place, usize::from(j));
    }
    j = 0;
    move || {
        i = i.wrapping_add(1);
        j = j.wrapping_add(s[usize::from(i)]);
        s.swap(usize::from(i), usize::from(j));
        s[usize::from(s[usize::from(i)].wrapping_add(s[usize::from(j)]))]
    }
}

fn isaac8(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut memory: [u8; 256] = std::array::from_fn(|_| seeds.next() as u8);
    let (mut a, mut b, mut at) = (1_u8, 2_u8, 0_u8);
    u8s(move || {
        let x = memory[usize::from(at)];
        let mixed = if at & 1 == 0 { a << 3 } else { a >> 2 };
        a = (a ^ mixed).wrapping_add(memory[usize::from(at.wrapping_add(128))]);
        let y = memory[usize::from(x)].wrapping_add(a).wrapping_add(b);
        memory[usize::from(at)] = y;
        b = memory[usize::from(y.rotate_right(4))].wrapping_add(x);
        at = at.wrapping_add(1);
        b
    })
}
