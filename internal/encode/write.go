// Package encode decides where each part of a version 4 file goes, and encodes the parts.
//
// [Write] writes a whole profile, for package builder. A writer that has each unit in another place
// uses a [Plan] and [UnitSections], as the pipeline of fleet/beam does.
package encode

import (
	"io"

	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// Options are the options of builder.Write in package builder, which documents them.
type Options struct {
	Compact, NoSources, NoEvidence bool

	Index *index.Options
}

// Write writes a profile as a version 4 file. It does the work of builder.Write.
func Write(w io.Writer, p *profile.Profile, o Options) error {
	f, err := newFile(p)
	if err != nil {
		return err
	}
	f.plan.orderSymbols()
	f.plan.orderUnits()
	f.number()
	return f.write(w, o)
}
