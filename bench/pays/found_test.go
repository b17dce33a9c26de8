package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/profile"
)

// What GCC 16 writes, cut down: main calls outer at line 3, into which small is inlined at its line
// 2. The profile has small by its plain name, and also inlined at line 7, where there is no call.
const foundDump = `
main is defined in node int main(int, char**)/7
Node int other(int)/6 not in auto profile (_Z5otheri neither other)
Adding dwarf->symbol rename small -> _ZL5smalli
_ZL5smalli is defined in node int small(int)/5
_Z5outeri is defined in node int outer(int)/4

Matching gimple function int main(int, char**)/7 with auto profile: main
    0        arg argc
 basic block 2
      1             10 # DEBUG BEGIN_STMT
      2.1     no info  x = 3;
      3        inlined y = outer (x);
      4             20 return y;
Removing unmatched count 9:5

Matching gimple function int outer(int)/4 with auto profile: main:3 _Z5outeri
      1             10 x = 3;
      2        inlined small (x);
      5             10 return x;

Matching gimple function int small(int)/5 with auto profile: _Z5outeri:2 main:3 _ZL5smalli
      1             40 x = 3;
`

func TestFound(t *testing.T) {
	p := profile.New()
	var b profile.Body
	count := func(line, discriminator uint32, n uint64) { b.Count(line, discriminator, n) }
	count(1, 0, 1000)
	count(0, 0, 100) // where main begins
	count(9, 0, 100) // and ends
	count(2, 1, 50)  // a statement about which GCC knows nothing
	count(3, 4, 7)   // a discriminator that there is not
	b.Enter(3, 0, p.AddSymbol(0, "_Z5outeri"))
	b.Enter(2, 0, p.AddSymbol(0, "small"))
	count(1, 0, 2000)
	b.Leave()
	b.Enter(7, 0, p.AddSymbol(0, "small"))
	count(1, 0, 30)
	b.Leave()
	b.Leave()
	b.Enter(3, 0, p.AddSymbol(0, "_Z3wayv"))
	count(1, 0, 600)
	b.Leave()
	p.AddFunction(p.AddSymbol(0, "main"), profile.Function{Records: b.Records()})
	var file bytes.Buffer
	_, err := gcov.Write(&file, p, gcov.WriteOptions{Version: 3})
	require.NoError(t, err)
	dir := t.TempDir()
	in, dump := filepath.Join(dir, "p.afdo"), filepath.Join(dir, "dump")
	require.NoError(t, os.WriteFile(in, file.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(dump, []byte(foundDump), 0o600))
	var out bytes.Buffer
	require.NoError(t, judgeDumps(&out, in, []string{dump}, 2))
	require.Equal(t, `found	77.18 %
found apart	0.00 %
begin or end	5.15 %
no statement	1.47 %
no call	0.77 %
no function	15.44 %
15.44 %	no function: main:3 _Z3wayv 1
2.57 %	begin or end: main 0
`, out.String())
}
