// Witness for Go: shows which random sources repeat in copies of a warm process.
//
// Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
// is copied while it waits, and each copy draws for itself; whoever started it compares them.
// HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws` and the scratch directory.
package main

import (
	crand "crypto/rand"
	"fmt"
	"hash/maphash"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const (
	warmUps = 5
	draws   = 8
	poll    = 5 * time.Millisecond
)

// A source is a name and a function that draws one value.
type source struct {
	name string
	draw func() string
}

// later has the sources of releases after 1.21, which files with a build constraint add.
var later []source

var home = os.Getenv("HEADWATER_WITNESS_DIR")

// The runtime keeps its generators per thread. A goroutine that wakes on another thread draws from
// another generator, and a copy would then look as if it had its own.
func init() {
	runtime.LockOSThread()
}

func sources(scratch string) []source {
	kept := rand.New(rand.NewSource(time.Now().UnixNano()))
	elements := map[int]bool{}
	for number := 0; number < 256; number++ {
		elements[number] = true
	}
	list := []source{
		// The kernel first: only its first draws are sure to be the same in copied machines.
		{"crypto/rand", func() string {
			bytes := make([]byte, 16)
			if _, err := crand.Read(bytes); err != nil {
				panic(err)
			}
			return fmt.Sprintf("%x", bytes)
		}},
		{"math/rand", func() string { return strconv.FormatInt(rand.Int63(), 10) }},
		{"math/rand.Perm", func() string { return fmt.Sprint(rand.Perm(20)) }},
		{"math/rand.Rand, kept", func() string { return strconv.FormatInt(kept.Int63(), 10) }},
		// The start of an iteration is random, so several starts make a value.
		{"map order", func() string {
			var starts strings.Builder
			for round := 0; round < 12; round++ {
				for element := range elements {
					fmt.Fprintf(&starts, "%d-", element)
					break
				}
			}
			return starts.String()
		}},
		{"maphash.MakeSeed", func() string { return hash(maphash.MakeSeed()) }},
		// The file goes at once: a name still taken makes the next copy try another one, and
		// that retry would hide a repeat.
		{"os.CreateTemp", func() string {
			file, err := os.CreateTemp(scratch, "")
			if err != nil {
				panic(err)
			}
			file.Close()
			os.Remove(file.Name())
			return filepath.Base(file.Name())
		}},
	}
	return append(list, later...)
}

func hash(seed maphash.Seed) string {
	return strconv.FormatUint(maphash.String(seed, "headwater"), 16)
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(home, name))
	return err == nil
}

// publish writes under another name first, so that nobody reads half of the file.
func publish(name, text string) {
	unfinished := filepath.Join(home, name+".tmp")
	if err := os.WriteFile(unfinished, []byte(text), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(unfinished, filepath.Join(home, name)); err != nil {
		panic(err)
	}
}

func witness() {
	scratch := filepath.Join(home, "scratch")
	// Not its parents: they are gone only if the planting was removed, and then it must stay so.
	if err := os.Mkdir(scratch, 0o700); err != nil {
		panic(err)
	}
	drawn := sources(scratch)
	seed := maphash.MakeSeed()
	for round := 0; round < warmUps; round++ {
		for _, source := range drawn {
			source.draw()
		}
	}
	hash(seed)

	publish("ready", "Go "+strings.TrimPrefix(runtime.Version(), "go")+"\n")
	for !exists("go") {
		if !exists("ready") {
			return // The planter gave up; nobody would ever say go.
		}
		time.Sleep(poll)
	}

	var lines strings.Builder
	for round := 0; round < draws; round++ {
		for _, source := range drawn {
			fmt.Fprintf(&lines, "go/%s\t%s\n", source.name, source.draw())
		}
	}
	fmt.Fprintf(&lines, "go/maphash.Seed, kept\t%s\n", hash(seed))
	publish("draws", lines.String())
}

func main() {
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Fprintln(os.Stderr, "go witness:", problem)
			os.Exit(1)
		}
	}()
	witness()
}
