// Draws from crypto/rand when told to, and times itself; child.rs says how it is asked.
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"time"
)

func main() {
	var buffer []byte // kept, so that its pages are there when the clock runs
	requests := bufio.NewScanner(os.Stdin)
	fmt.Printf("%s, crypto/rand\n", runtime.Version())
	for requests.Scan() {
		var verb, function string
		var length, number int
		fmt.Sscan(requests.Text(), &verb, &function, &length, &number)
		if len(buffer) != length {
			buffer = make([]byte, length)
		}
		switch {
		case function != "Read":
			fmt.Println("error this Go has no", function)
		case verb == "sample":
			for i := range buffer {
				buffer[i] = byte(number)
			}
			draw(buffer)
			fmt.Println(hex.EncodeToString(buffer))
		default:
			start := time.Now()
			for range number {
				draw(buffer)
			}
			fmt.Println(time.Since(start).Nanoseconds())
		}
	}
}

// What is not random must not be timed. Since Go 1.24 this never happens: Read ends the program instead.
func draw(buffer []byte) {
	if _, err := rand.Read(buffer); err != nil {
		panic(err)
	}
}
