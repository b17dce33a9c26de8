package fleetmerge

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn3x1[[]byte, func(*[]byte) bool, func([]byte, []byte), error](new(sumFn))
}

// Sum adds up the units that [Read] returns, so that each path has one element. It groups and does
// not combine ahead of that: a worker holds the sum of one unit, and not those of all units that a
// bundle happens to have.
func Sum(s beam.Scope, units beam.PCollection) beam.PCollection {
	s = s.Scope("Sum")
	return beam.ParDo(s, new(sumFn), beam.GroupByKey(s, units))
}

type sumFn struct{}

func (*sumFn) ProcessElement(path []byte, parts func(*[]byte) bool, emit func(path, sum []byte)) error {
	sum, err := sumParts(parts)
	if err != nil {
		return err
	}
	data, err := encodePart(sum)
	if err != nil {
		return err
	}
	emit(path, data)
	return nil
}
