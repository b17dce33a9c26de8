package create

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/samples"
)

// library calls a function of the C library a thousand times, in line 6, and another one once.
const library = `#include <stdio.h>
#include <string.h>
__attribute__((noinline)) static long work(char **a, int n) {
	long s = 0;
	for (int i = 0; i < n; i++)
		s += strlen(a[i & 1]);
	return s;
}
int main(int argc, char **argv) {
	char *a[2] = {argv[0], "abc"};
	printf("%ld\n", work(a, 1000));
	return 0;
}
`

// A call through the procedure linkage table counts once, whatever its stub looks like.
func TestCallsThroughStubs(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	forms := [][]string{
		{"-Wl,-z,lazy"},
		{"-Wl,-z,now"},
		{"-fno-plt"},
		{"-fcf-protection=full", "-Wl,-z,ibtplt"},
		{"-no-pie", "-fno-pie"},
		{"-static"}, // its strlen is an indirect function, whose resolver has several names
		{"-static-pie"},
	}
	for _, flags := range forms[:testenv.Rounds(1, len(forms))] {
		p := compile(t, gcc, "library.c", library, append(flags, "-O2", "-g")...)
		f, b := p.open(t)
		set, _, err := samples.Read(bytes.NewReader(p.callgrind(t)), b, samples.Options{})
		require.NoError(t, err)
		made, _, err := Profile(context.Background(), f, set, Options{})
		require.NoError(t, err)
		counts := flatten(made, false).positions
		require.Equal(t, uint64(1000), counts["work 3"], "%v: strlen %v", flags, counts)
		require.Equal(t, uint64(1), counts["main 2"], "%v: printf %v", flags, counts)
	}
}
