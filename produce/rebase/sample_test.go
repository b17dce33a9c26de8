package rebase

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
)

func sampleText(t *testing.T, text string, old, new *Sources) string {
	t.Helper()
	p, err := sampleprof.ParseTextBytes([]byte(text))
	require.NoError(t, err)
	q, _, err := Sample(p, old, new)
	require.NoError(t, err)
	var out bytes.Buffer
	_, err = sampleprof.WriteText(&out, q)
	require.NoError(t, err)
	return out.String()
}

const sampleOld = `int leaf(int a) {
	int b = a * a;
	return helper(b);
}
int top(int a) {
	start(a);
	int b = leaf(a);
	int c = leaf(b);
	stop(c);
	return c;
}
`

// TestSample moves all kinds of records of a sample profile. Samples that are dropped with their
// line are subtracted from totals.
func TestSample(t *testing.T) {
	old := sources("a.c", sampleOld)
	new := sources("a.c", strings.NewReplacer("\tint b = a", "\n\n\tint b = a", "\tint c = leaf(b);\n\tstop(c);\n\treturn c", "\tstop(b);\n\treturn b").Replace(sampleOld))
	got := sampleText(t, `top:1000:10
 1: 100 start:90 begin:10
 4.3: 50 stop:40
 5: 5
 2: leaf:400
  1: 200
  2: 200 helper:200
 3: leaf:300
  1: 100
  2: 200 helper:200
leaf:30:10
 1: 15
 2: 15
other:7:1
 3: 7
`, old, new)
	assert.Equal(t, `top:700:10
 1: 100 start:90 begin:10
 3.3: 50 stop:40
 4: 5
 2: leaf:400
  3: 200
  4: 200 helper:200
leaf:30:10
 3: 15
 4: 15
other:7:1
 3: 7
`, got)
}

// Lines before the declaration, as of macros and included code, are numbered from 2^16 down, as in
// GCOV profiles. A function that does not contain them can still be the profiled one.
func TestSampleBeforeDeclaration(t *testing.T) {
	old := sources("a.c", sampleOld)
	new := sources("a.c", strings.Replace(sampleOld, "\tint b = a", "\n\n\tint b = a", 1))
	assert.Equal(t, "leaf:30:10\n 3: 15\n 65534: 10\n 65535: 5\n", sampleText(t, "leaf:30:10\n 1: 15\n 65534: 10\n 65535: 5\n", old, new))
}

// TestSampleContext moves the calls in contexts. It drops a context if the line of a call is gone.
func TestSampleContext(t *testing.T) {
	old := sources("a.c", sampleOld)
	new := sources("a.c", strings.NewReplacer("\tstart(a);", "\tbegin();\n\tstart(a);", "\tint c = leaf(b);\n", "").Replace(sampleOld))
	got := sampleText(t, `[top:2 @ leaf]:400:20
 1: 200
 2: 200 helper:200
[top:3 @ leaf]:300:10
 1: 100
 2: 200
[top]:150:1
 1: 100 start:100
`, old, new)
	assert.Equal(t, `[top:3 @ leaf]:400:20
 1: 200
 2: 200 helper:200
[top]:150:1
 2: 100 start:100
`, got)
}

func TestSampleProbes(t *testing.T) {
	p, err := sampleprof.ParseTextBytes([]byte("main:10:0\n 1: 10\n !CFGChecksum: 12\n"))
	require.NoError(t, err)
	_, _, err = Sample(p, sources("a.c", sampleOld), sources("a.c", sampleOld))
	assert.ErrorIs(t, err, errProbes)
}
