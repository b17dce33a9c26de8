package gen

// Options say which files [Random] makes. The zero value stands for small files as a careful writer
// would lay them out: normal mode, sections and tables in order, symbol IDs from 0 without gaps,
// minimal tries, ASCII names, each location once. The switches add legal shapes that a reader must
// take as well. Each is used now and then, not always.
type Options struct {
	// Upper bounds of the sizes, which are drawn for each file; 0 stands for the default in
	// brackets.
	Units   int // units besides the one of unknown files (4)
	Symbols int // symbols of a unit (6)
	Records int // location records of a body (8); nested bodies have fewer
	Depth   int // levels of inlined bodies (4)
	Targets int // targets of a call record (4)
	Entries int // detailed entries of the summary (16)

	Compact      bool // compact header and sections
	MixedCompact bool // header and each section compact or not, overriding Compact
	OverLong     bool // over-long varints in compact parts (format note 5); nothing without them

	ShuffleSections bool // sections in any order in the file, and the table in another (note 1)
	Gaps            bool // unused bytes before, between and after sections
	Trailing        bool // unused bytes in sections after their data (note 7)
	ReservedBits    bool // reserved bits of the header set (note 6)
	UnknownSections bool // sections of types 0 and 6 to 127 (note 6)

	NoUnknownUnit  bool // no unit of unknown files (note 8); without the switch it is always there
	ShuffleUnits   bool // the unit of unknown files anywhere, not last; ranges of IDs in any order
	SuffixPaths    bool // paths that end in another unit's path, at a slash and elsewhere
	IDBase         bool // symbol IDs from 1, from anywhere, or up to the very last, besides from 0 (note 9)
	IDGaps         bool // unused IDs between and in units; empty ranges anywhere
	ShuffleRows    bool // rows of symbol names in any order
	ShuffleStrings bool // string indices in any order (note 10)
	UnusedStrings  bool // strings without a symbol, sometimes hundreds
	OddTries       bool // single-child non-terminals, empty labels, shared first bytes, any order (note 11)
	DeadEnds       bool // besides OddTries, non-terminal leaves, which no note speaks of; not in All

	RawNames   bool // names and paths with quotes, braces, control bytes and broken UTF-8
	NULNames   bool // symbol names that hold NUL, which versions 2 and 3 cannot
	EmptyNames bool // symbols with an empty name (a root terminal)
	LongNames  bool // symbol names above 65535 bytes, one in some hundreds
	SameNames  bool // two symbols of one unit with one name, which no note speaks of; not in All

	AnyOrder         bool // records in any order, not that of note 15
	Duplicates       bool // several records of one kind (and callee) at one location (note 13)
	OddRecords       bool // explicit discriminator 0, types larger than the count needs, CALLED_FNS with 0 or 1 targets, a callee twice
	WideLines        bool // line offsets above 65535
	UnknownLocations bool // records of types 0 and 7 to 127 (note 16)
	Silent           bool // infos that say nothing (note 12)
	Deep             bool // some bodies nested 50 to 100 deep
	Dangling         bool // callees that no symbol has, which no note speaks of; not in All
	TrueSummary      bool // the summary that note 19 computes from the records as they stand, not any numbers
}

// All returns options with every legal shape switched on.
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
