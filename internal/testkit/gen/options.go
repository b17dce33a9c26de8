package gen

// Options configure [Random]. With the zero Options it generates small files as a careful writer
// would lay them out: normal mode, sections and tables in order, symbol IDs from 0 without gaps,
// minimal tries, ASCII names, each location once. The switches add other legal shapes, which
// readers must accept. Each shape is used occasionally, not always.
type Options struct {
	// Maximum sizes. The actual sizes are random for each file. 0 means the default in parentheses.
	Units   int // units in addition to the one of unknown files (4)
	Symbols int // symbols per unit (6)
	Records int // location records per body (8); nested bodies have fewer
	Depth   int // levels of inlined bodies (4)
	Targets int // targets per call record (4)
	Entries int // entries of the summary (16)

	Compact      bool // compact header and sections
	MixedCompact bool // header and each section compact or not at random, overriding Compact
	OverLong     bool // overlong varints in compact parts (format note 5)

	ShuffleSections bool // sections and section table in random order (note 1)
	Gaps            bool // unused bytes before, between and after sections
	Trailing        bool // unused bytes in sections after their data (note 7)
	ReservedBits    bool // reserved bits of the header set (note 6)
	UnknownSections bool // sections of types 0 and 6 to 127 (note 6)

	NoUnknownUnit  bool // no unit of unknown files (note 8); otherwise there always is one
	ShuffleUnits   bool // the unit of unknown files in any position; ranges of IDs in any order
	SuffixPaths    bool // paths that are suffixes of another unit's path, at a slash or elsewhere
	IDBase         bool // symbol IDs that start at 1, anywhere, or end at the last ID (note 9)
	IDGaps         bool // unused IDs between and in units; empty ranges anywhere
	ShuffleRows    bool // rows of symbol names in any order
	ShuffleStrings bool // string indexes in any order (note 10)
	UnusedStrings  bool // strings without a symbol, sometimes hundreds
	OddTries       bool // non-terminals with one child, empty labels, shared first bytes, any order (note 11)
	DeadEnds       bool // with OddTries, also leaves that are not terminals; no note covers this; not in All

	RawNames   bool // names and paths with quotes, braces, control bytes and invalid UTF-8
	NULNames   bool // symbol names with NUL, which versions 2 and 3 cannot store
	EmptyNames bool // symbols with an empty name (a root terminal)
	LongNames  bool // symbol names longer than 65535 bytes, one in some hundreds

	AnyOrder         bool // records in any order instead of that of note 15
	Duplicates       bool // several records of the same kind (and callee) at a location (note 13)
	OddRecords       bool // explicit discriminator 0, types larger than the count needs, CALLED_FNS with 0 or 1 targets, duplicate callees
	WideLines        bool // line offsets above 65535
	UnknownLocations bool // records of types 0 and 7 to 127 (note 16)
	Silent           bool // symbol infos without any data (note 12)
	Deep             bool // some bodies nested 50 to 100 deep
	Dangling         bool // callees that do not exist; no note covers this; not in All
	TrueSummary      bool // the summary that note 19 computes from the records, instead of random numbers
}

// All returns options with all legal shapes enabled.
func All() Options {
	return Options{
		MixedCompact: true, OverLong: true,
		ShuffleSections: true, Gaps: true, Trailing: true, ReservedBits: true, UnknownSections: true,
		NoUnknownUnit: true, ShuffleUnits: true, SuffixPaths: true, IDBase: true, IDGaps: true,
		ShuffleRows: true, ShuffleStrings: true, UnusedStrings: true, OddTries: true,
		RawNames: true, NULNames: true, EmptyNames: true, LongNames: true,
		AnyOrder: true, Duplicates: true, OddRecords: true, WideLines: true,
		UnknownLocations: true, Silent: true, Deep: true,
	}
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		size  *int
		value int
	}{{&o.Units, 4}, {&o.Symbols, 6}, {&o.Records, 8}, {&o.Depth, 4}, {&o.Targets, 4}, {&o.Entries, 16}} {
		if *d.size == 0 {
			*d.size = d.value
		}
	}
	return o
}
