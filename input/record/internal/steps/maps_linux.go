package steps

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/perfdata"
)

// A mapping is a range of addresses to which a process has mapped a file, or at which it has code.
type mapping struct {
	perfdata.Mmap
	recorded bool // bursts record this code
	constant bool // it does not change
	file     fileID
}

// A fileID identifies the content of a file with code. It is the zero value if the content cannot
// be identified.
type fileID struct {
	path, inode   string // inode and device as in /proc/PID/maps
	changed, size int64
}

// fileOf returns the fileID of a file that a thread has mapped. If the file is replaced, its inode
// changes. If its content is overwritten, its modification time changes.
func fileOf(tid int, path, inode string) fileID {
	var s unix.Stat_t
	if unix.Stat(procPath(tid, "root"+path), &s) != nil {
		return fileID{}
	}
	return fileID{path, inode, s.Mtim.Nano(), s.Size}
}

// runTime matches the file names of the C library and of libraries that come with the compiler.
// Bursts do not record their code, because nobody compiles them with the program's profile.
var runTime = pattern.Of(`^(ld|ld-linux.*|ld-musl.*|libc|libm|libmvec|libpthread|libdl|librt|libresolv|libutil|libnsl|libcrypt|libgcc_s|libstdc\+\+|libc\+\+|libc\+\+abi|libunwind|libatomic|libgomp|libquadmath|libasan|libtsan|libubsan)(-[0-9.]+)?\.so(\.[0-9.]+)?$`)

// isRecorded reports whether bursts record the code of a mapped file with the given path. They do
// not record code of the C library, of the kernel, whose name is in brackets, or memory without a
// name, which holds code that was generated at run time.
func isRecorded(path string) bool {
	path = strings.TrimSuffix(path, " (deleted)")
	return filepath.IsAbs(path) && !strings.HasPrefix(path, "/memfd:") && !strings.HasPrefix(path, "//anon") && !runTime().MatchString(filepath.Base(path))
}

// ParseMapping reads a line of /proc/PID/maps:
//
//	55d0c8a3a000-55d0c8a3b000 r-xp 00001000 fe:00 9978600    /usr/bin/prog
//
// It returns false for memory that is not executable or has no name.
func ParseMapping(line string) (m perfdata.Mmap, ok bool) {
	m, _, ok = parseMapping(line)
	return m, ok && m.Executable
}

// mapsFields are the fields before the path in a line of /proc/PID/maps.
type mapsFields [5]string

func (f *mapsFields) permissions() string { return f[1] }
func (f *mapsFields) inode() string       { return f[3] + " " + f[4] }

// parseMapping reads a line of /proc/PID/maps like ParseMapping, but also lines about memory that
// is not executable. It returns false for memory without a name.
func parseMapping(line string) (m perfdata.Mmap, fields mapsFields, ok bool) {
	rest := line
	for i := range fields {
		fields[i], rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
	}
	m.Path = strings.ReplaceAll(strings.TrimLeft(rest, " "), `\012`, "\n")
	low, high, _ := strings.Cut(fields[0], "-")
	start, err := strconv.ParseUint(low, 16, 64)
	end, err2 := strconv.ParseUint(high, 16, 64)
	offset, err3 := strconv.ParseUint(fields[2], 16, 64)
	if errors.Join(err, err2, err3) != nil || end < start || m.Path == "" {
		return m, fields, false
	}
	m.Start, m.Length, m.PageOffset, m.Executable = start, end-start, offset, strings.Contains(fields.permissions(), "x")
	return m, fields, true
}

// readMaps returns the mappings of a thread that have code or a file, from /proc, in the order of
// addresses. There are none if the thread has ended, as the main thread of a process that goes on.
func readMaps(tid int) ([]mapping, error) {
	text, err := readProc(tid, "maps")
	if err != nil {
		return nil, err
	}
	var list []mapping
	for line := range strings.Lines(string(text)) {
		parsed, fields, ok := parseMapping(strings.TrimSuffix(line, "\n"))
		if !ok {
			continue
		}
		m := mapping{Mmap: parsed}
		m.TID = int32(tid)
		m.recorded = m.Executable && isRecorded(m.Path)
		if code := fields.permissions() == "r-xp"; filepath.IsAbs(m.Path) && (code || fields.permissions() == "r--p") {
			m.constant = true
			if code {
				m.file = fileOf(tid, m.Path, fields.inode())
			}
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b mapping) int { return cmp.Compare(a.Start, b.Start) })
	return list, nil
}

// find returns the mapping in a list that contains an address, nil if there is none.
func find(list []mapping, address uint64) *mapping {
	i, exact := slices.BinarySearchFunc(list, address, func(m mapping, a uint64) int { return cmp.Compare(m.Start, a) })
	if !exact {
		i--
	}
	if i < 0 || address-list[i].Start >= list[i].Length {
		return nil
	}
	return &list[i]
}
