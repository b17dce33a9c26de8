package driver

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// What a compile reads may depend on the time of a source: __TIMESTAMP__ expands to it. So the
// inputs are looked at again if only a time has changed.
func TestTimestampOfSource(t *testing.T) {
	compiler := testenv.Tool(t, "gcc")
	for text, again := range map[string]bool{"int f0(void) { return 1; }\n": false, "#define T(x) __TIME##x\nint f0(void) { return T(STAMP__)[18]; }\n": true} {
		c := &change{T: t, naming: naming{files: map[string]string{"a.c": text}}, dir: t.TempDir(), compiler: compiler, profile: versionsProfile(t)}
		c.write("a.c", text)
		testenv.Settle()
		cache := t.TempDir()
		_, ran := c.slice(cache, false)
		require.True(t, ran)
		_, ran = c.slice(cache, false)
		require.False(t, ran)
		old := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(c.dir, "a.c"), old, old))
		testenv.Settle()
		_, ran = c.slice(cache, false)
		assert.Equal(t, again, ran, text)
	}
}

// GCC reads a precompiled header that is older than its header without a word, so the compile with
// the header's old content and a new time is not the one of the record.
func TestTimeOfPrecompiledHeader(t *testing.T) {
	compiler := testenv.Tool(t, "gcc")
	c := &change{T: t, naming: naming{args: "-include h.h"}, dir: t.TempDir(), compiler: compiler, profile: versionsProfile(t)}
	c.write("a.c", "int f0(void) { return 1; }\n")
	c.write("h.h", "int g(void);\n")
	testenv.Settle()
	precompile := exec.Command(compiler, "-O2", "-x", "c-header", "h.h", "-o", "h.h.gch")
	precompile.Dir = c.dir
	require.NoError(t, precompile.Run())
	testenv.Settle()
	cache := t.TempDir()
	before, _ := c.slice(cache, false)
	again, ran := c.slice(cache, false)
	require.Equal(t, before, again)
	require.False(t, ran)
	c.write("h.h", "int g(void);\n")
	testenv.Settle()
	warm, _ := c.slice(cache, false)
	cold, _ := c.slice(t.TempDir(), false)
	assert.Equal(t, cold, warm)
}
