package gcov

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lost"
)

// errLayout is the class of an afdo.FormatError if a tag, a type or the end of the file is not
// where the format requires it.
var errLayout = errors.New("bad layout")

// faultAt returns an error about the byte at a file offset.
func faultAt(offset int64, class error, format string, args ...any) *fault.FormatError {
	return &fault.FormatError{
		Format: "gcov", Section: fault.HeaderSection, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// versionError returns the error for a profile that has neither version 2 nor 3.
func versionError(kind string, version uint32) *fault.VersionError {
	detail := fmt.Sprintf("this is a version %d profile, not version 2 or 3", version)
	if version == version4 {
		detail += "; package afdo reads that"
	}
	return &fault.VersionError{Format: "gcov", Kind: kind, Version: uint64(version), Detail: detail}
}

// Losses counts what [Write] could not store in the format. The zero Losses means that the file
// reads back as the same profile, except that an empty symbol of an unknown file is dropped if
// nothing refers to it.
type Losses struct {
	Files      int  // version 2: units whose symbols lost their file
	Symbols    int  // symbols merged with another symbol of the same name in another file
	Timestamps int  // version 2: functions that lost their timestamp
	Summary    bool // version 2: the profile had a summary
	ZeroCounts int  // locations with call targets but without a count, which gained a count of 0

	// Lines of more than 16 bits: those without samples (SilentLines) are left out, others
	// (FoldedLines) are reduced to 16 bits, as GCC does in lookups.
	SilentLines, FoldedLines int

	Sources  bool // the profile has marks, see [profile.Marks]
	Evidence bool // the profile has evidence, see [profile.Evidence]
}

// String lists the losses in words, separated by "; ". It is empty if nothing was lost.
func (l Losses) String() string {
	var list lost.List
	list.Add(l.Files, "source path dropped", "source paths dropped")
	list.Add(l.Symbols, "symbol merged with another of its name", "symbols merged with others of their name")
	list.Add(l.Timestamps, "timestamp dropped", "timestamps dropped")
	list.AddIf(l.Summary, "summary dropped")
	list.Add(l.ZeroCounts, "call location without a count got a count of 0", "call locations without a count got a count of 0")
	list.Add(l.SilentLines, "location without samples beyond line 65,535 left out", "locations without samples beyond line 65,535 left out")
	list.Add(l.FoldedLines, "line offset folded to 16 bits", "line offsets folded to 16 bits")
	list.AddIf(l.Sources, "the record of the sources dropped")
	list.AddIf(l.Evidence, "the counts of machine code dropped")
	return list.String()
}
