package main

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/driver"
)

// A stamp says out of what a slice was made, so that the next run knows
// without looking into the profile that it would make the same one. It is 0 if it cannot tell.
type stamp uint64

func newStamp(profile string, compiler *driver.Compiler, in *driver.Inputs, bits int) stamp {
	info, err := os.Stat(profile)
	if err != nil || !info.Mode().IsRegular() || in == nil {
		return 0
	}
	h := xxhash.New()
	fmt.Fprintf(h, "%s\x00%d\x00%d\x00%d\x00%d\x00%d\x00", profile, info.Size(), info.ModTime().UnixNano(), compiler.Reads(), bits, in.Sum())
	// Another afdo may slice in another way.
	if self, err := os.Executable(); err == nil {
		if info, err := os.Stat(self); err == nil {
			fmt.Fprintf(h, "%d\x00%d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return stamp(h.Sum64())
}

// stampKind is the cache's name for stamps.
const stampKind = "stamps"

// holds tells whether the file of a slice is the one that was made out of the same.
func (s stamp) holds(cache *driver.Cache, path string) bool {
	if s == 0 {
		return false
	}
	kept, ok := cache.Get(stampKind, path)
	return ok && string(kept) == string(s.of(path))
}

// keep remembers that the file of a slice is up to date.
func (s stamp) keep(cache *driver.Cache, path string) {
	if s != 0 {
		cache.Put(stampKind, path, s.of(path))
	}
}

// of returns the stamp and the state of the slice's file.
func (s stamp) of(path string) []byte {
	state := binary.LittleEndian.AppendUint64(nil, uint64(s))
	if info, err := os.Stat(path); err == nil {
		state = binary.LittleEndian.AppendUint64(state, uint64(info.Size()))
		state = binary.LittleEndian.AppendUint64(state, uint64(info.ModTime().UnixNano()))
	}
	return state
}
