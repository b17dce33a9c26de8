package samples

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/internal/perfdata"
)

func TestTraceHint(t *testing.T) {
	for trace, want := range map[perfdata.Trace]string{perfdata.ArmSPE: "perf script --itrace=bl1", perfdata.IntelPT: "an Intel PT trace", perfdata.OtherTrace: "perf inject"} {
		assert.Contains(t, (&Report{trace: trace}).TraceHint(), want)
	}
}
