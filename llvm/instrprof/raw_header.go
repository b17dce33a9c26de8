package instrprof

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
)

// The first word of a raw file, in the byte order of the machine that wrote it.
const (
	rawMagic64 = 0xff6c70726f667281 // pointers of 8 bytes
	rawMagic32 = 0xff6c70726f665281 // of 4
)

const (
	minRaw = 4 // LLVM 9
	maxRaw = 11
)

// Versions of raw files from which on they have something.
const (
	rawVersionPadding   = 5
	rawVersionBinaryIDs = 6
	rawVersionRelative  = 8 // the addresses of counters are relative to the record
	rawVersionBitmap    = 9
	rawVersionVTables   = 10
	rawVersionUniform   = 11
)

// A RawHeader is what the header of a dump says.
type RawHeader struct {
	Version      uint32
	Flags        Flags
	PointerSize  int    // 4 or 8
	BigEndian    bool   // the byte order of the machine
	NumFunctions uint64 // data records
	NumCounters  uint64 // of 8 bytes, or of one if Flags say so

	binaryIDsSize              uint64
	numBitmapBytes             uint64
	numUniform                 uint64 // uniform counters, which are passed over
	namesSize                  uint64
	countersDelta, bitmapDelta uint64 // from the first data record to the counters and bitmaps in the memory of the process; before version 8 their address
	uniformDelta               uint64
	numVTables                 uint64
	vtableNamesSize            uint64

	beforeCounters, afterCounters, afterBitmap, afterUniform uint64 // padding
	namesDelta, lastKind                                     uint64 // nothing to read a file by
}

// A rawField is a word of the header, in versions from since on, before until unless that is 0.
type rawField struct {
	at           *uint64
	since, until uint32
}

// rawFields lists the words after magic and version, in order.
func (h *RawHeader) rawFields() [18]rawField {
	return [...]rawField{
		{at: &h.binaryIDsSize, since: rawVersionBinaryIDs + 1},
		{at: &h.NumFunctions},
		{at: &h.beforeCounters, since: rawVersionPadding},
		{at: &h.NumCounters},
		{at: &h.afterCounters, since: rawVersionPadding},
		{at: &h.numBitmapBytes, since: rawVersionBitmap},
		{at: &h.afterBitmap, since: rawVersionBitmap},
		{at: &h.numUniform, since: rawVersionUniform},
		{at: &h.afterUniform, since: rawVersionUniform},
		{at: &h.uniformDelta, since: rawVersionUniform},
		{at: &h.namesSize},
		{at: &h.countersDelta},
		{at: &h.bitmapDelta, since: rawVersionBitmap},
		{at: &h.namesDelta},
		{at: &h.numVTables, since: rawVersionVTables},
		{at: &h.vtableNamesSize, since: rawVersionVTables},
		{at: &h.lastKind},
		{at: &h.binaryIDsSize, since: rawVersionBinaryIDs, until: rawVersionBinaryIDs + 1},
	}
}

// rawMagic recognises the first word of a dump.
func rawMagic(head []byte) (pointerSize int, big, ok bool) {
	if len(head) < 8 {
		return 0, false, false
	}
	for _, big := range [...]bool{false, true} {
		switch get64(head, big) {
		case rawMagic64:
			return 8, big, true
		case rawMagic32:
			return 4, big, true
		}
	}
	return 0, false, false
}

// rawHeader reads the header of a dump.
func (f *fields) rawHeader() *RawHeader {
	h := &RawHeader{}
	var ok bool
	if h.PointerSize, h.BigEndian, ok = rawMagic(f.Data[f.Pos:]); !ok {
		f.Fail(f.Pos, errMagic, "no raw profile begins here")
		return nil
	}
	f.Big = h.BigEndian
	f.Pos += 8
	h.Version, h.Flags = versionWord(f.Uint64("the version"))
	if f.Err == nil && (h.Version < minRaw || h.Version > maxRaw) {
		f.Stop(versionError("raw", h.Version, minRaw, maxRaw))
		return nil
	}
	if unknown := h.Flags &^ knownFlags; unknown != 0 {
		f.Fail(f.Pos-8, fault.ErrHeader, "unknown flags %#x", uint32(unknown))
	}
	for _, field := range h.rawFields() {
		if h.Version >= field.since && (field.until == 0 || h.Version < field.until) {
			*field.at = f.Uint64("a field of the header")
		}
	}
	return h
}

// counterWidth returns the size of a counter.
func (h *RawHeader) counterWidth() uint64 {
	if h.Flags&SingleByteCounter != 0 {
		return 1
	}
	return 8
}

// uniformWidth is the size of a uniform counter, whatever that of the others is.
const uniformWidth = 8

// correlated tells whether what describes the functions is elsewhere.
func (h *RawHeader) correlated() bool {
	return h.Flags&Correlated != 0 || h.NumFunctions == 0 && h.NumCounters > 0
}

// stamped tells whether a time stamp stands before the counters of each function. A program of
// which only the entries of functions are instrumented takes none, though its flags say that it
// does; LLVM 22 takes the counters of several functions for one there.
func (h *RawHeader) stamped() bool {
	return h.Flags&TemporalTraces != 0 && h.Flags&FunctionEntryOnly == 0
}

// String says what the file is.
func (h RawHeader) String() string {
	order := "little-endian"
	if h.BigEndian {
		order = "big-endian"
	}
	return fmt.Sprintf("raw version %d, %s, %d bits", h.Version, order, 8*h.PointerSize)
}
