package symbolize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const openMP = `__attribute__((cold, noinline)) void rare(volatile int *n) { *n += 1; }
int main(int argc, char **argv) {
  volatile int n = 0;
  long s = 0;
#pragma omp parallel for reduction(+:s)
  for (int i = 0; i < 1000; i++) {
    if (i == argc * 7777) {
      rare(&n);
      rare(&n);
    }
    s += i * argc;
  }
  return s == 7;
}
`

// Debug info does not declare the function that GCC makes of the body of an OpenMP construct. Its
// Function.Line is the line of its first code. This also holds for a cold part of the function,
// whose address is lower.
func TestColdPieceOfOpenMP(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.c"), []byte(openMP), 0o600))
	runTool(t, dir, testenv.Tool(t, "gcc"), "-g", "-O2", "-fopenmp", "p.c", "-o", "p")
	f, err := Open(filepath.Join(dir, "p"))
	require.NoError(t, err)
	defer f.Close()
	lines := make(map[string]uint32)
	for code, err := range f.Code(t.Context(), allSymbols(t, f)) {
		require.NoError(t, err)
		for _, s := range code.Spans {
			if s.Instance != nil && strings.HasPrefix(code.Symbol.Names[0], "main._omp_fn.0") {
				lines[code.Symbol.Names[0]] = s.Instance.Chain()[0].Function.Line
			}
		}
	}
	require.Equal(t, map[string]uint32{"main._omp_fn.0": 5, "main._omp_fn.0.cold": 5}, lines)
}
