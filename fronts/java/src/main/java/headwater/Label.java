package headwater;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/** A seed or a label in the one form that is hashed: a kind and bytes, as STREAMS.md defines. */
final class Label {
    final int kind;
    final byte[] bytes;

    private Label(int kind, byte[] bytes) {
        this.kind = kind;
        this.bytes = bytes;
    }

    static Label of(long number) {
        return of(BigInteger.valueOf(number));
    }

    static Label of(BigInteger number) {
        boolean isNegative = number.signum() < 0;
        BigInteger value = isNegative ? number.not() : number; // -1 - n
        if (value.bitLength() > 128) {
            throw new IllegalArgumentException("the number is not in -2^128 to 2^128 - 1: " + number);
        }
        byte[] highestFirst = value.toByteArray();
        byte[] bytes = new byte[16];
        for (int i = 0; i < Math.min(16, highestFirst.length); i++) {
            bytes[i] = highestFirst[highestFirst.length - 1 - i];
        }
        return new Label(isNegative ? 1 : 0, bytes);
    }

    static Label of(byte[] bytes) {
        return new Label(2, Objects.requireNonNull(bytes, "bytes"));
    }

    static Label of(String text) {
        try {
            // String.getBytes would make one text of all that is not Unicode.
            ByteBuffer utf8 = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            return new Label(3, Arrays.copyOf(utf8.array(), utf8.limit()));
        } catch (CharacterCodingException failure) {
            throw new IllegalArgumentException("the text holds half of a surrogate pair", failure);
        }
    }
}
