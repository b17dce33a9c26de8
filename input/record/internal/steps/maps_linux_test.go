package steps

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/internal/perfdata"
)

func TestParseMapping(t *testing.T) {
	for line, want := range map[string]perfdata.Mmap{
		"55d0c8a3a000-55d0c8a3b000 r-xp 00001000 fe:00 9978600                    /usr/bin/prog": {Start: 0x55d0c8a3a000, Length: 0x1000, PageOffset: 0x1000, Executable: true, Path: "/usr/bin/prog"},
		`1000-3000 rwxp 00000000 fe:00 1 /a  b\012c (deleted)`:                                   {Start: 0x1000, Length: 0x2000, Executable: true, Path: "/a  b\nc (deleted)"},
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]":    {Start: 0xffffffffff600000, Length: 0x1000, Executable: true, Path: "[vsyscall]"},
	} {
		m, ok := ParseMapping(line)
		assert.True(t, ok, line)
		assert.Equal(t, want, m, line)
	}
	for _, line := range []string{
		"", "x", "1000-2000", "1000-2000 r--p 00000000 fe:00 1 /data", "1000-2000 r-xp 00000000 00:00 0",
		"2000-1000 r-xp 00000000 fe:00 1 /a", "1000-x r-xp 00000000 fe:00 1 /a", "1000-2000 r-xp z fe:00 1 /a",
	} {
		_, ok := ParseMapping(line)
		assert.False(t, ok, line)
	}
}

// isRecorded returns false for libraries of the C and C++ run time, and for code without a file.
func TestIsRecorded(t *testing.T) {
	for path, want := range map[string]bool{
		"/usr/bin/prog": true, "/usr/lib/libpython3.11.so.1.0": true, "/opt/my lib.so": true, "/usr/bin/prog (deleted)": true,
		"/lib/x86_64-linux-gnu/libc.so.6": false, "/usr/lib/libstdc++.so.6.0.30": false, "/lib64/ld-linux-x86-64.so.2": false,
		"/lib/libc-2.31.so": false, "/lib/ld-musl-x86_64.so.1": false, "/lib/libc.so.6 (deleted)": false,
		"[vdso]": false, "/memfd:jit (deleted)": false, "//anon": false,
	} {
		assert.Equal(t, want, isRecorded(path), path)
	}
}

func TestFind(t *testing.T) {
	list := []mapping{{Mmap: perfdata.Mmap{Start: 10, Length: 5}}, {Mmap: perfdata.Mmap{Start: 20, Length: 1}}}
	for address, want := range map[uint64]*mapping{9: nil, 10: &list[0], 14: &list[0], 15: nil, 20: &list[1], 21: nil} {
		assert.Same(t, want, find(list, address), "%d", address)
	}
}
