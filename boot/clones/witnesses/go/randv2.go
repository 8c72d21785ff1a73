//go:build go1.22

// The sources that came with Go 1.22, in a file of their own so that 1.21 builds without it.
package main

import (
	crand "crypto/rand"
	"math/rand/v2"
	"strconv"
)

func init() {
	decimal := func(value uint64) string { return strconv.FormatUint(value, 10) }
	// Both seed themselves once here, from the two places that programs use.
	pcg := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	var key [32]byte
	if _, err := crand.Read(key[:]); err != nil {
		panic(err)
	}
	chacha := rand.New(rand.NewChaCha8(key))
	later = append(later,
		source{"math/rand/v2", func() string { return decimal(rand.Uint64()) }},
		source{"math/rand/v2.PCG, kept", func() string { return decimal(pcg.Uint64()) }},
		source{"math/rand/v2.ChaCha8, kept", func() string { return decimal(chacha.Uint64()) }},
	)
}
