package planned

import (
	"encoding/binary"
	"os"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/driver/internal/record"
	"github.com/go-afdo/afdo/driver/internal/store"
	"github.com/go-afdo/afdo/internal/files"
)

// A Stamp is a hash of everything that a slice was made of, except the lines of the inputs. With it
// and the state of the inputs, the next run knows without reading the profile that it would make
// the same slice.
type Stamp uint64

// The cache keeps three numbers for each slice: the stamp, a hash of the slice, and the state of
// the inputs. The third number is 0 if the slice does not depend on the lines of the inputs.
const keptSize = 3 * 8

// Holds reports whether the slice at path is unchanged since it was made, and was made of this
// profile, compiler, options and text.
func (s Stamp) Holds(cache *store.Store, path string, in *record.Record) bool {
	kept, ok := cache.Get(store.Stamps, path)
	if !ok || len(kept) != keptSize || binary.LittleEndian.Uint64(kept) != uint64(s) {
		return false
	}
	if inputs := binary.LittleEndian.Uint64(kept[16:]); inputs != 0 && inputs != in.State() {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	data, err := files.ReadFile(path, info.Size())
	return err == nil && binary.LittleEndian.Uint64(kept[8:]) == xxhash.Sum64(data)
}

// Keep remembers for a slice its stamp, its bytes and the state of its inputs, or 0.
func (s Stamp) Keep(cache *store.Store, path string, data []byte, inputs uint64) {
	kept := binary.LittleEndian.AppendUint64(nil, uint64(s))
	kept = binary.LittleEndian.AppendUint64(kept, xxhash.Sum64(data))
	cache.Put(store.Stamps, path, binary.LittleEndian.AppendUint64(kept, inputs))
}
