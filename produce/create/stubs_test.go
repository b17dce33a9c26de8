package create

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// library calls functions of the C library a thousand times: in line 6, as the last thing that a
// function does, and in a loop that begins with the call. It calls printf once.
const library = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) static long work(char **a, int n) {
	long s = 0;
	for (int i = 0; i < n; i++)
		s += strlen(a[i & 1]);
	return s;
}
__attribute__((noinline)) static int last(void) {
	return rand();
}
__attribute__((noinline)) static int more(int n) {
	int r = n;
	do
		rand();
	while (--n);
	do
		n += last();
	while (--r);
	return n == 7;
}
int main(int argc, char **argv) {
	char *a[2] = {argv[0], "abc"};
	printf("%ld\n", work(a, 1000));
	return more(1000);
}
`

// A call through the procedure linkage table counts once, whatever instructions the table has.
func TestCallsThroughStubs(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	forms := [][]string{
		{gcc, "-Wl,-z,lazy"},
		{gcc, "-Wl,-z,now"},
		{gcc, "-fno-plt"},
		{gcc, "-fcf-protection=full", "-Wl,-z,ibtplt"},
		{gcc, "-no-pie", "-fno-pie"},
		{gcc, "-static"}, // its strlen is an indirect function, whose resolver has several names
		{gcc, "-static-pie"},
	}
	if testenv.Sweep() {
		clang, lld := testenv.Tool(t, "clang-22"), "--ld-path="+testenv.Tool(t, "ld.lld-22", "ld.lld")
		forms = append(forms,
			[]string{clang, "-Wl,-z,lazy"},
			[]string{clang, "-fno-plt"},
			[]string{clang, lld, "-Wl,-z,lazy"},
			[]string{clang, lld, "-Wl,-z,now"},
			[]string{clang, lld, "-fcf-protection=full", "-Wl,-z,force-ibt"},
			[]string{clang, lld, "-Wl,-z,retpolineplt", "-Wl,-z,lazy"},
			[]string{clang, lld, "-Wl,-z,retpolineplt", "-Wl,-z,now"},
			[]string{clang, lld, "-static-pie"},
		)
	}
	for _, form := range forms[:testenv.Rounds(1, len(forms))] {
		p := compile(t, form[0], "library.c", library, append(form[1:], "-O2", "-g")...)
		f, b := p.open(t)
		set, _, err := samples.Read(bytes.NewReader(p.callgrind(t)), b, samples.Options{})
		require.NoError(t, err)
		made, _, err := Profile(context.Background(), f, set, Options{})
		require.NoError(t, err)
		counts := flatten(made, false).positions
		require.Equal(t, uint64(1000), counts["work 3"], "%v: strlen %v", form, counts)
		require.Equal(t, uint64(1000), counts["last 1"], "%v: rand at the end %v", form, counts)
		require.Equal(t, uint64(1000), counts["more 3"], "%v: rand %v", form, counts)
		require.Equal(t, uint64(1), counts["main 2"], "%v: printf %v", form, counts)
	}
}
