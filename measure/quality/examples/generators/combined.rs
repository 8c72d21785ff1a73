//! Sums of generators of different kinds.

use super::{Generator, Numbers, Seeds, generator, u16s, u32s};

pub(super) const ALL: &[Generator] = &[
    generator("kiss99", "Marsaglia 1999: MWC, shift register and LCG", kiss99),
    generator("jkiss32", "Jones 2010: no multiplications", jkiss32),
    generator("shr3+cong", "Marsaglia 1999: shift register and LCG, added", shr3_cong),
    generator("mrg32k3a", "L'Ecuyer 1999; the upper 16 of 32 bits", mrg32k3a),
    generator("mrg32k3a-low", "L'Ecuyer 1999; the lower 16 of 32 bits", mrg32k3a_low),
    generator("mrg31k3p", "L'Ecuyer and Touzin 2000; bits 15 to 30", mrg31k3p),
    generator("wichmann-hill", "1982: three small LCGs; 16 bits of the fraction", wichmann_hill),
    generator("ecuyer88", "L'Ecuyer 1988: two LCGs; the upper 16 of 31 bits", ecuyer88),
    generator("super-duper", "Marsaglia 1970s, in S: LCG and shift register, xor", super_duper),
];

fn kiss99(seed: u64) -> Numbers {
    let [mut z, mut w, mut jsr, mut jcong] = Seeds(seed).halves();
    u32s(move || {
        z = 36969_u32.wrapping_mul(z & 0xFFFF).wrapping_add(z >> 16);
        w = 18000_u32.wrapping_mul(w & 0xFFFF).wrapping_add(w >> 16);
        jsr ^= jsr << 17;
        jsr ^= jsr >> 13;
        jsr ^= jsr << 5;
        jcong = jcong.wrapping_mul(69069).wrapping_add(1_234_567);
        ((z << 16).wrapping_add(w) ^ jcong).wrapping_add(jsr)
    })
}

fn jkiss32(seed: u64) -> Numbers {
    let [mut x, mut y, mut z, mut w] = Seeds(seed).halves();
    let mut c = 0;
    u32s(move || {
        y ^= y << 5;
        y ^= y >> 7;
        y ^= y << 22;
        let t = z.wrapping_add(w).wrapping_add(c) as i32;
        (z, c, w) = (w, u32::from(t < 0), (t & 0x7FFF_FFFF) as u32);
        x = x.wrapping_add(1_411_392_427);
        x.wrapping_add(y).wrapping_add(w)
    })
}

fn shr3_cong(seed: u64) -> Numbers {
    let [mut jsr, mut jcong] = Seeds(seed).halves();
    u32s(move || {
        jsr ^= jsr << 17;
        jsr ^= jsr >> 13;
        jsr ^= jsr << 5;
        jcong = jcong.wrapping_mul(69069).wrapping_add(1_234_567);
        jsr.wrapping_add(jcong)
    })
}

pub(super) fn mrg32k3a_of(words: [u32; 6]) -> impl FnMut() -> u32 + 'static {
    const M1: i64 = 4_294_967_087;
    const M2: i64 = 4_294_944_443;
    let mut s1 = [0, 1, 2].map(|i| i64::from(words[i]) % M1);
    let mut s2 = [3, 4, 5].map(|i| i64::from(words[i]) % M2);
    move || {
        let p1 = (1_403_580 * s1[1] - 810_728 * s1[0]).rem_euclid(M1);
        s1 = [s1[1], s1[2], p1];
        let p2 = (527_612 * s2[2] - 1_370_589 * s2[0]).rem_euclid(M2);
        s2 = [s2[1], s2[2], p2];
        (p1 - p2).rem_euclid(M1) as u32
    }
}

fn mrg32k3a(seed: u64) -> Numbers {
    let mut next = mrg32k3a_of(Seeds(seed).halves());
    u16s(move || (next() >> 16) as u16)
}

fn mrg32k3a_low(seed: u64) -> Numbers {
    let mut next = mrg32k3a_of(Seeds(seed).halves());
    u16s(move || next() as u16)
}

fn mrg31k3p(seed: u64) -> Numbers {
    const M1: u64 = 2_147_483_647;
    const M2: u64 = 2_147_462_579;
    let words: [u32; 6] = Seeds(seed).halves();
    let mut x = [0, 1, 2].map(|i| u64::from(words[i]) % M1);
    let mut y = [3, 4, 5].map(|i| u64::from(words[i]) % M2);
    u16s(move || {
        // x[n] = 2^22 x[n - 2] + (2^7 + 1) x[n - 3], y[n] = 2^15 y[n - 1] + (2^15 + 1) y[n - 3].
        let new = ((x[1] << 22) % M1 + 129 * x[2]) % M1;
        x = [new, x[0], x[1]];
        let new = ((y[0] << 15) % M2 + 32769 * y[2]) % M2;
        y = [new, y[0], y[1]];
        (((x[0] + M1 - y[0] % M1) % M1) >> 15) as u16
    })
}

fn wichmann_hill(seed: u64) -> Numbers {
    let [mut a, mut b, mut c] = Seeds(seed).halves().map(|s: u32| s % 30000 + 1);
    u16s(move || {
        (a, b, c) = (171 * a % 30269, 172 * b % 30307, 170 * c % 30323);
        let sum = f64::from(a) / 30269.0 + f64::from(b) / 30307.0 + f64::from(c) / 30323.0;
        (sum.fract() * 65536.0) as u16
    })
}

fn ecuyer88(seed: u64) -> Numbers {
    const M1: u64 = 2_147_483_563;
    const M2: u64 = 2_147_483_399;
    let [a, b] = Seeds(seed).halves();
    let (mut a, mut b) = (u64::from(a) % (M1 - 1) + 1, u64::from(b) % (M2 - 1) + 1);
    u16s(move || {
        (a, b) = (40014 * a % M1, 40692 * b % M2);
        (((a + M1 - 1 - b % (M1 - 1)) % (M1 - 1)) >> 15) as u16
    })
}

fn super_duper(seed: u64) -> Numbers {
    let [mut cong, mut tausworthe] = Seeds(seed).halves().map(|s: u32| s | 1);
    u32s(move || {
        cong = cong.wrapping_mul(69069);
        tausworthe ^= tausworthe >> 15;
        tausworthe ^= tausworthe << 17;
        cong ^ tausworthe
    })
}
