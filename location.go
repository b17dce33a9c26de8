package afdo

import (
	"strconv"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A LocationType is the type of a location record (RFC 4.8.2).
type LocationType uint8

// The location types of the RFC.
const (
	LocationZero      LocationType = wire.Zero      // 0x01: no samples
	LocationNormal    LocationType = wire.Normal    // 0x02: samples, up to 32 bits
	LocationWide      LocationType = wire.Wide      // 0x03: samples, up to 64 bits
	LocationCalledFn  LocationType = wire.CalledFn  // 0x04: one call target
	LocationCalledFns LocationType = wire.CalledFns // 0x05: several call targets
	LocationInlinedFn LocationType = wire.InlinedFn // 0x06: an inlined function with its own locations
)

var locationTypeNames = [...]string{
	LocationZero:      "zero",
	LocationNormal:    "normal",
	LocationWide:      "wide",
	LocationCalledFn:  "called function",
	LocationCalledFns: "called functions",
	LocationInlinedFn: "inlined function",
}

// String returns the name of the type, or "type 0x2a" for an unknown one.
func (t LocationType) String() string {
	if int(t) < len(locationTypeNames) && locationTypeNames[t] != "" {
		return locationTypeNames[t]
	}
	return "type 0x" + strconv.FormatUint(uint64(t), 16)
}

// A Location is one location record (RFC 4.8).
type Location struct {
	Type          LocationType
	Line          uint32   // offset from the line of the function's declaration, at most 24 bits
	Discriminator uint32   // at most 16 bits; 0 if the record has none
	Count         uint64   // samples, for LocationZero, LocationNormal and LocationWide
	Callee        SymbolID // the inlined function, for LocationInlinedFn
	NumTargets    uint32   // number of call targets, for LocationCalledFn and LocationCalledFns; see Cursor.Targets
	NumLocations  uint32   // number of records directly in the inlined body, for LocationInlinedFn
}

// A Target is a function called from a call site, with the number of calls from this site.
type Target struct {
	Callee SymbolID
	Count  uint64
}
