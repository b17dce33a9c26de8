// Package filestate tells whether a file is still the one that was looked at.
package filestate

import (
	"encoding/binary"
	"io/fs"

	"github.com/cespare/xxhash/v2"
)

// Of returns a number that changes when a file does, or another one takes
// its place, whatever their size and time. It is not 0.
func Of(info fs.FileInfo) uint64 {
	var state []byte
	for _, v := range append([]int64{info.Size(), info.ModTime().UnixNano()}, identity(info)...) {
		state = binary.LittleEndian.AppendUint64(state, uint64(v))
	}
	return max(1, xxhash.Sum64(state))
}
