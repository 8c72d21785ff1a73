//! The generators' own published numbers, so that a table names what it has measured.

use super::{Seeds, chaotic, ciphers, combined, permuted, shifts};

#[test]
fn shift_registers() {
    // MT19937 (Nishimura's mt19937ar.c, seed 5489): the C++ standard has the 10,000th number.
    let mut state = [5489; 624];
    for i in 1..624 {
        let before: u32 = state[i - 1];
        state[i] = (before ^ (before >> 30)).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
    }
    let mut next = shifts::mt19937_of(state);
    assert_eq!((next(), next()), (3_499_211_612, 581_869_302));
    (3..10_000).for_each(|_| {
        next();
    });
    assert_eq!(next(), 4_123_659_995);

    // The authors' C code, from the state 1, 2, 3, 4.
    let start = [1, 2, 3, 4];
    let mut next =
        shifts::xoshiro256(start, |s| s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]));
    assert_eq!([next(), next(), next()], [41_943_041, 58_720_359, 3_588_806_011_781_223]);
    let mut next = shifts::xoshiro256(start, |s| s[0].wrapping_add(s[3]));
    assert_eq!([next(), next(), next()], [5, 211_106_232_532_999, 211_106_635_186_183]);
    let mut next = shifts::xoshiro128([1, 2, 3, 4], |s| s[0].wrapping_add(s[3]));
    assert_eq!([next(), next(), next()], [5, 12_295, 25_178_119]);
}

#[test]
fn sums_and_permutations() {
    // L'Ecuyer's RngStreams, all seeds 12345: the first uniform number is 0.127011122046577.
    let first = combined::mrg32k3a_of([12345; 6])();
    assert_eq!((f64::from(first) / 4_294_967_088.0 * 1e12).round(), 127_011_122_047.0);

    // pcg32_srandom(42, 54) of the C library's demo.
    let increment = (54 << 1) | 1;
    let state = 42_u64.wrapping_add(increment);
    let state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(increment);
    let mut next = permuted::pcg32(state, increment);
    assert_eq!([next(), next(), next()], [0xA15C_02B7, 0x7B47_F409, 0xBA1D_3330]);

    let mut seeds = Seeds(1_234_567);
    assert_eq!(
        [seeds.next(), seeds.next()],
        [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
    );

    // RFC 6229 has other keys; this one is of the original posting.
    let mut next = chaotic::rc4_of(b"Key");
    let stream: [u8; 8] = std::array::from_fn(|_| next());
    assert_eq!(stream, [0xEB, 0x9F, 0x77, 0x81, 0xB7, 0x34, 0xCA, 0x72]);
}

#[test]
fn ciphers_with_all_rounds() {
    // Random123's kat_vectors: counters and keys of 0.
    let philox = ciphers::philox_block([0; 2], [0; 4], 10);
    assert_eq!(philox, [0x6627_E8D5, 0xE169_C58D, 0xBC57_AC4C, 0x9B00_DBD8]);
    let philox = ciphers::philox_block([0; 2], [0; 4], 7);
    assert_eq!(philox, [0x5F6F_B709, 0x0D89_3F64, 0x4F12_1F81, 0x4F73_0A48]);
    let threefry = ciphers::threefry_block([0; 2], [0; 2], 20);
    assert_eq!(threefry, [0xC2B6_E3A8_C2C6_9865, 0x6F81_ED42_F350_084D]);
    let threefry = ciphers::threefry_block([0; 2], [0; 2], 13);
    assert_eq!(threefry, [0xF167_B032_C3B4_80BD, 0xE91F_9FEE_4B7A_6FB5]);

    // RFC 7539, 2.3.2.
    let key = std::array::from_fn(|i| 0x0302_0100 + 0x0404_0404 * i as u32);
    let block = ciphers::chacha_block(&key, [1, 0x0900_0000, 0x4A00_0000, 0], 20);
    assert_eq!(block[..3], [0xE4E7_F110, 0x1559_3BD1, 0x1FDD_0F50]);

    // The paper's appendix C, words in the order of memory.
    let key = [0x0302_0100, 0x0B0A_0908, 0x1312_1110, 0x1B1A_1918];
    let block = ciphers::speck64_block(key, [0x7475_432D, 0x3B72_6574], 27);
    assert_eq!(block, [0x454E_028B, 0x8C6F_A548]);
    let key = [0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908];
    let block = ciphers::speck128_block(key, [0x7469_2065_6461_6D20, 0x6C61_7669_7571_6520], 32);
    assert_eq!(block, [0x7860_FEDF_5C57_0D18, 0xA65D_9851_7978_3265]);

    // FIPS 197, appendix B, with its schedule.
    let sbox = ciphers::substitution();
    let key = 0x2B7E_1516_28AE_D2A6_ABF7_1588_09CF_4F3C_u128.to_be_bytes();
    let mut words: Vec<[u8; 4]> = key.as_chunks().0.to_vec();
    let mut constant = 1_u8;
    for i in 4..44 {
        let mut word = words[i - 1];
        if i % 4 == 0 {
            word.rotate_left(1);
            word = word.map(|byte| sbox[usize::from(byte)]);
            word[0] ^= constant;
            constant = (constant << 1) ^ if constant & 0x80 == 0 { 0 } else { 0x1B };
        }
        words.push(std::array::from_fn(|j| words[i - 4][j] ^ word[j]));
    }
    let keys: Vec<[u8; 16]> =
        words.chunks(4).map(|four| std::array::from_fn(|i| four[i / 4][i % 4])).collect();
    let plain = 0x3243_F6A8_885A_308D_3131_98A2_E037_0734_u128.to_be_bytes();
    let block = ciphers::aes_block(&sbox, &keys, plain);
    assert_eq!(u128::from_be_bytes(block), 0x3925_841D_02DC_09FB_DC11_8597_196A_0B32);

    // The authors' vectors: key 00 to 0f, message 00 to 07.
    let key = [0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908];
    assert_eq!(ciphers::siphash_of(key, key[0], 2, 4), 0x93F5_F579_9A93_2462);

    // 32 cycles, key 000102...0f and plain text 4142434445464748, both big-endian.
    let key = [0x0001_0203, 0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F];
    let block = ciphers::xtea_block(&key, [0x4142_4344, 0x4546_4748], 32);
    assert_eq!(block, [0x497D_F3D0, 0x7261_2CB5]);
}
