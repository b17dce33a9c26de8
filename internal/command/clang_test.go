package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseClang(t *testing.T) {
	for line, want := range map[string]Line{
		"clang -O2 -c a.c -mllvm -x -Xclang -o":                {Sources: []string{"a.c"}, Object: "a.o"},
		"clang++-22 -c a.cc -fprofile-sample-use=p":            {Sources: []string{"a.cc"}, Object: "a.o", Profile: "p"},
		"clang -c a.c -fauto-profile=p":                        {Sources: []string{"a.c"}, Object: "a.o", Profile: "p"},
		"clang -c a.c -fprofile-use=p.profdata":                {Sources: []string{"a.c"}, Object: "a.o", Profile: "p.profdata"},
		"clang -c a.c -fprofile-use=p -fno-profile-use":        {Sources: []string{"a.c"}, Object: "a.o", Reason: Declined},
		"clang -c a.c -fno-profile-sample-use":                 {Sources: []string{"a.c"}, Object: "a.o", Reason: Declined},
		"clang -c a.c -fprofile-generate=dir":                  {Sources: []string{"a.c"}, Object: "a.o", Reason: Instruments},
		"clang -c a.c -fprofile-instr-generate":                {Sources: []string{"a.c"}, Object: "a.o", Reason: Instruments},
		"clang -cc1 -emit-obj a.c":                             {Sources: []string{"a.c"}, Object: "a.out", Reason: CompilesNothing},
		"clang++ -c a.cppm -fmodule-output":                    {Sources: []string{"a.cppm"}, Object: "a.o"},
		"clang++ -x c++-module a.cc -c":                        {Sources: []string{"a.cc"}, Object: "a.o"},
		"clang++ -c a.pcm":                                     {Sources: []string{"a.pcm"}, Object: "a.o"},
		"clang -x ir a.o -c -o b.o":                            {Object: "b.o", Reason: CompilesNothing},
		"x86_64-linux-gnu-clang++ -flto=thin -fuse-ld=lld a.o": {LTO: true, Reason: CompilesNothing},
	} {
		got := parse(line)
		assert.True(t, got.Clang, line)
		got.Args, got.words = nil, nil
		assert.Equal(t, want.Sources, got.Sources, line)
		assert.Equal(t, want.Object, got.Object, line)
		assert.Equal(t, want.Profile, got.Profile, line)
		assert.Equal(t, want.LTO, got.LTO, line)
		assert.Equal(t, want.Reason, got.Reason, line)
	}
	for name, want := range map[string]bool{
		"clang": true, "clang++": true, "/usr/bin/clang-22": true, "aarch64-linux-gnu-clang++-19": true,
		"clang-cl": false, "clang-format": false, "gcc": false, "cc": false,
	} {
		assert.Equal(t, want, (&Line{Compiler: name, Dir: "/nowhere"}).isNamed(hasClangName), name)
	}
	c := parse("clang -c -fprofile-instr-use=p a.c")
	assert.Equal(t, strings.Fields("clang -c -fprofile-instr-use=slice a.c"), c.WithProfile("slice"))
	assert.NotContains(t, strings.Join(c.PreprocessArgs(), " "), "profile")
}

func TestWordsHide(t *testing.T) {
	for line, want := range map[string]bool{
		"clang -c a.c":                                false,
		"clang -c a.c -include config.h":              false,
		"clang -c a.c -include-pch all.pch":           true,
		"clang -c a.cc -fmodules":                     true,
		"clang -c a.cc -fmodule-file=x=y":             true,
		"clang -c a.cc -fprofile-remapping-file=x":    true,
		"clang -c a.cc -mllvm -salvage-stale-profile": true,
		"clang -c a.cc -mllvm -inline-threshold=3":    false,
	} {
		assert.Equal(t, want, parse(line).wordsHide(), line)
	}
	assert.NotEmpty(t, parse("clang -working-directory d -c a.c").HidesNames())
	assert.Empty(t, parse("clang -resource-dir d -iwithsysroot /usr/include -c a.c").HidesNames())
	for _, line := range []string{"clang++ -c a.cppm", "clang++ -c a.pcm", "g++ -c a.ixx"} {
		assert.Equal(t, "modules of C++", parse(line).HidesNames(), line)
	}
}
