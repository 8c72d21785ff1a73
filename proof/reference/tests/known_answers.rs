//! The oracle against the published answers of its standards.
//!
//! Every value was also recomputed with OpenSSL 3.0 (`openssl enc -aes-256-ecb`, `-aes-256-ctr`,
//! `-chacha20`), which shares no code with this crate.

use reference::streams::{ars, blake2s, philox4x32};
use reference::{aes256_ctr, aes256_encrypt, chacha20, derived_key, derived_key_chacha20, hedge};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

fn array<const N: usize>(text: &str) -> [u8; N] {
    hex(text).try_into().expect("a vector of the right length")
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// Returns the bytes 0, 1, 2, ..., 31, the example key of both FIPS 197 and RFC 8439.
fn counting_key() -> [u8; 32] {
    core::array::from_fn(|i| i as u8)
}

/// SP 800-38A, appendix F: the key of every AES-256 example.
const SP800_38A_KEY: &str = "603deb1015ca71be2b73aef0857d7781 1f352c073b6108d72d9810a30914dff4";

/// SP 800-38A, appendix F: the four blocks of plaintext of every example.
const SP800_38A_PLAINTEXT: &str = "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
                                   30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710";

#[test]
fn aes_block_fips_197_2001_appendix_c3() {
    let plaintext = array("00112233445566778899aabbccddeeff");
    let expected = array("8ea2b7ca516745bfeafc49904b496089");
    assert_eq!(aes256_encrypt(&counting_key(), plaintext), expected);
}

#[test]
fn aes_blocks_sp800_38a_appendix_f15() {
    let expected = hex("f3eed1bdb5d2a03c064b5a7e3db181f8 591ccb10d410ed26dc5ba74a31362870
                        b6ed21b99ca6f4f9f153e7b1beafed1d 23304b7a39f9f3ff067d8d8f9e24ecc7");
    let key = array(SP800_38A_KEY);
    let encrypted: Vec<u8> = hex(SP800_38A_PLAINTEXT)
        .chunks_exact(16)
        .flat_map(|block| aes256_encrypt(&key, block.try_into().unwrap()))
        .collect();
    assert_eq!(encrypted, expected);
}

#[test]
fn aes_counter_mode_sp800_38a_appendix_f55() {
    let counter_block = array("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let ciphertext = hex("601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
                          2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6");
    let expected = xor(&hex(SP800_38A_PLAINTEXT), &ciphertext);
    let key = array(SP800_38A_KEY);
    // Every prefix too: a short output is the beginning of a long one.
    for length in 0..=expected.len() {
        let mut keystream = vec![0; length];
        aes256_ctr(&key, counter_block, &mut keystream);
        assert_eq!(keystream, expected[..length]);
    }
}

/// No standard has an example of this: the expected value is OpenSSL's.
#[test]
fn aes_counter_carries_through_the_whole_block() {
    let expected = hex("3b3c2921c85a24de9ac606ce6d1d60cc e568f68194cf76d6174d4cc04310a854
                        91151e5d0b7a1f1bc0d7acd0ae3e51e4");
    let mut keystream = [0; 48];
    aes256_ctr(&array(SP800_38A_KEY), [0xff; 16], &mut keystream);
    assert_eq!(keystream[..], expected);
}

#[test]
fn chacha20_block_rfc_8439_section_2_3_2() {
    let expected = hex("10f1e7e4d13b5915500fdd1fa32071c4 c7d1f4c733c068030422aa9ac3d46c4e
                        d2826446079faa0914c2d705d98b02a2 b5129cd1de164eb9cbd083e8a2503c4e");
    let mut keystream = [0; 64];
    chacha20(&counting_key(), &array("000000090000004a00000000"), 1, &mut keystream);
    assert_eq!(keystream[..], expected);
}

#[test]
fn chacha20_encryption_rfc_8439_section_2_4_2() {
    let plaintext = b"Ladies and Gentlemen of the class of '99: If I could offer you only one \
                      tip for the future, sunscreen would be it.";
    let ciphertext = hex("6e2e359a2568f98041ba0728dd0d6981 e97e7aec1d4360c20a27afccfd9fae0b
                          f91b65c5524733ab8f593dabcd62b357 1639d624e65152ab8f530c359f0861d8
                          07ca0dbf500d6a6156a38e088a22b65e 52bc514d16ccf806818ce91ab7793736
                          5af90bbf74a35be6b40b8eedf2785e42 874d");
    let nonce = array("000000000000004a00000000");
    for length in 0..=plaintext.len() {
        let mut keystream = vec![0; length];
        chacha20(&counting_key(), &nonce, 1, &mut keystream);
        assert_eq!(xor(&keystream, &plaintext[..length]), ciphertext[..length]);
    }
}

#[test]
fn chacha20_blocks_rfc_8439_appendix_a1() {
    let zero = [0; 32];
    let mut last_byte_one = zero;
    last_byte_one[31] = 1;
    let mut second_byte_ones = zero;
    second_byte_ones[1] = 0xff;
    let mut nonce_two = [0; 12];
    nonce_two[11] = 2;

    let vectors = [
        (
            zero,
            [0; 12],
            0,
            "76b8e0ada0f13d90405d6ae55386bd28 bdd219b8a08ded1aa836efcc8b770dc7
             da41597c5157488d7724e03fb8d84a37 6a43b8f41518a11cc387b669b2ee6586",
        ),
        (
            zero,
            [0; 12],
            1,
            "9f07e7be5551387a98ba977c732d080d cb0f29a048e3656912c6533e32ee7aed
             29b721769ce64e43d57133b074d839d5 31ed1f28510afb45ace10a1f4b794d6f",
        ),
        (
            last_byte_one,
            [0; 12],
            1,
            "3aeb5224ecf849929b9d828db1ced4dd 832025e8018b8160b82284f3c949aa5a
             8eca00bbb4a73bdad192b5c42f73f2fd 4e273644c8b36125a64addeb006c13a0",
        ),
        (
            second_byte_ones,
            [0; 12],
            2,
            "72d54dfbf12ec44b362692df94137f32 8fea8da73990265ec1bbbea1ae9af0ca
             13b25aa26cb4a648cb9b9d1be65b2c09 24a66c54d545ec1b7374f4872e99f096",
        ),
        (
            zero,
            nonce_two,
            0,
            "c2c64d378cd536374ae204b9ef933fcd 1a8b2288b3dfa49672ab765b54ee27c7
             8a970e0e955c14f3a88e741b97c286f7 5f8fc299e8148362fa198a39531bed6d",
        ),
    ];
    for (number, (key, nonce, counter, expected)) in (1..).zip(vectors) {
        let mut keystream = [0; 64];
        chacha20(&key, &nonce, counter, &mut keystream);
        assert_eq!(keystream[..], hex(expected), "test vector #{number}");
    }
}

/// Checks headwater's own construction, for which no standard has an example: the expected values
/// were put together from single blocks that `openssl enc -aes-256-ecb` encrypted.
#[test]
fn hedge_at_several_lengths() {
    let (r0, r1) = (0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210);
    for (n, expected) in [
        (0, ""),
        (3, "626749"),
        (8, "626749ff6b5f39a4"),
        (9, "626749ff6b5f39a4b7"),
        (16, "626749ff6b5f39a4b752c18819fe87af"),
        (17, "626749ff6b5f39a4b752c18819fe87af 09"),
        (40, "626749ff6b5f39a4b752c18819fe87af 09c3395d312737fae2386608d8a4e2bc e573cb4d8a32745a"),
    ] {
        assert_eq!(hedge(&counting_key(), r0, r1, n), hex(expected), "n = {n}");
    }
}

/// Checks another construction of headwater's own: the expected values are made of blocks that
/// `openssl enc` with `-aes-256-ecb` and `-chacha20` encrypted.
#[test]
fn keys_derived_from_a_counting_seed() {
    let seed: [u8; 64] = core::array::from_fn(|i| i as u8);
    let aes = hex("4187b14d6aaa363b34e8d3b8996f8efb d2453cb9cee1d2e665345c200413f4b6");
    let chacha = hex("c7936a8709bb1e3c3c923bf0a1d065c5 3c32047b22bcf4b341cbd749a9c5cd9a");
    assert_eq!(derived_key(&seed)[..], aes);
    assert_eq!(derived_key_chacha20(&seed)[..], chacha);
}

/// RFC 7693, appendix B.
#[test]
fn blake2s_rfc_7693_appendix_b() {
    let expected = hex("508c5e8c327c14e2e1a72ba34eeb452f 37458b209ed63a294d999b4c86675982");
    assert_eq!(blake2s::<32>(b"abc")[..], expected);
}

/// Follows RFC 7693, appendix E, without the keyed half: hashes of messages of every length around
/// a block, hashed. The RFC fixes the lengths, and how a message is made from its length. The
/// expected value is that of Python 3.11's `hashlib.blake2s`, because the RFC's own covers the
/// keyed half as well.
#[test]
fn blake2s_of_many_lengths() {
    let mut all = Vec::new();
    for output_length in [16, 20, 28, 32] {
        for length in [0, 3, 64, 65, 255, 1024] {
            let message = rfc_7693_sequence(length, length as u32);
            match output_length {
                16 => all.extend(blake2s::<16>(&message)),
                20 => all.extend(blake2s::<20>(&message)),
                28 => all.extend(blake2s::<28>(&message)),
                _ => all.extend(blake2s::<32>(&message)),
            }
        }
    }
    let expected = hex("f3beed67aa7807e27881fd59dd3184a8 2264d10ca8528b92fc5198dd8811e660");
    assert_eq!(blake2s::<32>(&all)[..], expected);
}

/// Makes a message by `selftest_seq` of RFC 7693, appendix E.
fn rfc_7693_sequence(length: usize, seed: u32) -> Vec<u8> {
    let mut a = 0xDEAD_4BAD_u32.wrapping_mul(seed);
    let mut b = 1_u32;
    (0..length)
        .map(|_| {
            let t = a.wrapping_add(b);
            (a, b) = (b, t);
            (t >> 24) as u8
        })
        .collect()
}

/// The authors' `kat_vectors` (Random123 1.14), lines "ars4x32 10": counter, key, block, in words
/// of 32 bits, the lowest first.
#[test]
fn ars_random123_kat_vectors() {
    for line in [
        "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 8d73ee19 506401ef 13c2dbe4 0cbe9c0d",
        "243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0 082efa98 ec4e6c89 a516e7d6 8357ad74 5b59b3ec 8763fff3",
        "ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff 00000000 00000000 bb3743b1 9f635551 ecbc87fc a19478a9",
    ] {
        let words = words(line);
        assert_eq!(ars(10, number(&words[4..8]), number(&words[..4])), number(&words[8..]));
    }
}

/// The same, lines "philox4x32 10".
#[test]
fn philox_random123_kat_vectors() {
    for line in [
        "00000000 00000000 00000000 00000000 00000000 00000000 6627e8d5 e169c58d bc57ac4c 9b00dbd8",
        "ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff 408f276d 41c83b0e a20bc7c6 6d5451fd",
        "243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0 d16cfe09 94fdcceb 5001e420 24126ea1",
    ] {
        let words = words(line);
        let block = philox4x32(number(&words[4..6]) as u64, number(&words[..4]));
        assert_eq!(block, number(&words[6..]));
    }
}

fn words(line: &str) -> Vec<u32> {
    line.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect()
}

/// Joins words of 32 bits, the lowest first, to a number.
fn number(words: &[u32]) -> u128 {
    words.iter().rev().fold(0, |number, word| number << 32 | u128::from(*word))
}
