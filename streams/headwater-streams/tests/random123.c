/* Prints lines of key, counter, and the blocks of ars7, ars5 and philox4x32-10 by Random123, as
   hexadecimal numbers of 128 bits. */
#include <Random123/ars.h>
#include <Random123/philox.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Inputs without a pattern: the steps of splitmix64. */
static uint64_t state;

static uint32_t next(void)
{
	uint64_t z = state += 0x9E3779B97F4A7C15u;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z >> 32;
}

static void print(const uint32_t *words, char after)
{
	printf("%08x%08x%08x%08x%c", words[3], words[2], words[1], words[0], after);
}

int main(int argc, char **argv)
{
	int lines = argc > 1 ? atoi(argv[1]) : 1;

	for (int line = 0; line < lines; line++) {
		ars4x32_key_t key;
		ars4x32_ctr_t counter;
		philox4x32_key_t short_key;
		philox4x32_ctr_t philox;

		for (int i = 0; i < 4; i++) {
			key.v[i] = next();
			philox.v[i] = counter.v[i] = next();
		}
		short_key.v[0] = key.v[0];
		short_key.v[1] = key.v[1];
		print(key.v, ' ');
		print(counter.v, ' ');
		print(ars4x32_R(7, counter, key).v, ' ');
		print(ars4x32_R(5, counter, key).v, ' ');
		print(philox4x32_R(10, philox, short_key).v, '\n');
	}
	return 0;
}
