package fleetmerge

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn3x1[[]byte, func(*[]byte) bool, func([]byte, []byte), error](new(sumFn))
}

// Sum sums the units that [Read] returns, so that there is one element per path. It does not
// combine before grouping: a worker then holds the sum of one unit, instead of the sums of all
// units in its bundle.
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
