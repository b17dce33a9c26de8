package samples

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/perfdata"
)

// An object is a file that some process of the recording has mapped, identified by name and build
// ID.
type object struct {
	Object // its samples are set at the end, from the eventSamples of the chosen event
	kernel bool
	number int
}

// unknownName is the name by which perf calls a file that it does not know.
const unknownName = "[unknown]"

type objectKey struct{ name, buildID string }

// perfMaps holds the mappings of all processes of a recording, at the time of the current record.
type perfMaps struct {
	choice   choice
	buildIDs map[string][]string // of the recording's table, by path
	objects  map[objectKey]*object
	unmapped *object

	kernel    space
	processes map[int32]*space
	threads   map[int32]int32 // their processes, as far as mappings and forks tell

	// everywhere contains the mappings of all processes, for samples whose process is unknown.
	// Later mappings replace earlier ones at the same addresses.
	everywhere *space

	seen             bool // a mapping of a process was added
	inserted, copied int
	moved            uint64 // mappings that moved in memory because of others
}

func newPerfMaps(c choice) *perfMaps {
	m := &perfMaps{
		choice:    c,
		buildIDs:  make(map[string][]string),
		objects:   make(map[objectKey]*object),
		processes: make(map[int32]*space),
		threads:   make(map[int32]int32),
	}
	m.unmapped = m.newObject(objectKey{}, false)
	m.unmapped.Name = unknownName
	return m
}

// newObject adds a mapped file, with its name and build ID, to the mapped files of the recording.
// ours says whether the file is the binary whose samples are collected.
func (m *perfMaps) newObject(key objectKey, ours bool) *object {
	o := &object{Object: Object{Name: key.name, BuildID: key.buildID, Ours: ours}, kernel: isKernelName(key.name), number: len(m.objects)}
	m.objects[key] = o
	return o
}

// Limits on the mappings of a recording. No Linux process has more than maxMappings by default.
// Forked processes may copy freeCopies mappings, plus copyRatio for each mapping in the recording.
// New mappings may move freeMoves later ones in memory, plus moveRatio each. 1<<28 moves take about
// 1.5 s. Without the limit, a compressed recording of 500 kB took more than 200 s.
const (
	maxMappings = 1 << 16
	freeCopies  = 1 << 20
	copyRatio   = 16
	freeMoves   = 1 << 28
	moveRatio   = 1 << 10
)

// add adds a mapping to its process or to the kernel.
func (m *perfMaps) add(r *perfdata.Mmap) error {
	if r.Length == 0 {
		return nil
	}
	o := m.object(r.Path, r.BuildID)
	end := r.Start + min(r.Length, math.MaxUint64-r.Start)
	at := mapping{start: r.Start, end: end, delta: r.PageOffset - r.Start, object: o, file: o}
	at.anonymous = r.Executable && isAnonymous(r.Path)
	if !r.Executable {
		at.object = m.unmapped // code that was mapped here is gone
	}
	if r.PID == perfdata.UnknownPID {
		at.delta = m.kernelDelta(r)
		return m.insert(&m.kernel, at)
	}
	m.seen = true
	m.threads[r.TID] = r.PID
	if m.everywhere != nil {
		if err := m.insert(m.everywhere, at); err != nil {
			return err
		}
	}
	return m.insert(m.own(r.PID), at)
}

func (m *perfMaps) insert(s *space, at mapping) error {
	if len(s.maps) >= maxMappings {
		return m.limit("a process with more than 65536 mappings")
	}
	m.inserted++
	if old := s.find(at.start); at.anonymous && at.replaces(old) {
		at.object, at.file, at.delta, at.anonymous = old.object, old.file, old.delta, false
	}
	m.moved += uint64(s.insert(at))
	if m.moved > freeMoves+moveRatio*uint64(m.inserted) {
		return m.limit("a process with many mappings changes them too often")
	}
	return nil
}

// kernelDelta returns the number that has to be added to addresses in a mapping of the kernel or of
// a kernel module, to get the addresses that the linker assigned or file offsets. It is stored in
// mapping.delta.
func (m *perfMaps) kernelDelta(r *perfdata.Mmap) uint64 {
	if !isKernelName(r.Path) {
		if r.PageOffset == 0 {
			return m.choice.binary.text - r.Start // of a module: where it is loaded, .text comes first
		}
		return r.PageOffset - r.Start
	}
	// The page offset is the address at run time of the symbol that the name ends with.
	symbol := r.Path[strings.LastIndexByte(r.Path, ']')+1:]
	if linked, ok := m.choice.binary.symbols[symbol]; ok {
		return linked - r.PageOffset
	}
	return r.PageOffset - r.Start
}

// own returns the mappings of a process for the caller to change. If the process shares them with
// its parent or child, own first makes a copy for this process.
func (m *perfMaps) own(pid int32) *space {
	s := m.processes[pid]
	switch {
	case s == nil:
		s = new(space)
		m.processes[pid] = s
	case s.shared:
		m.copied += len(s.maps)
		s = &space{maps: append([]mapping(nil), s.maps...)}
		m.processes[pid] = s
	}
	return s
}

// exec handles a record that gives a thread a new name. If the process got the name because it
// executed another program, exec drops the mappings of the process.
func (m *perfMaps) exec(r *perfdata.Comm) {
	m.threads[r.TID] = r.PID
	if r.Exec {
		delete(m.processes, r.PID)
	}
}

// fork handles a new thread or process. A new process has the mappings of its parent.
func (m *perfMaps) fork(r *perfdata.Fork) error {
	m.threads[r.TID] = r.PID
	if r.PID == r.ParentPID {
		return nil
	}
	delete(m.processes, r.PID)
	if parent := m.processes[r.ParentPID]; parent != nil {
		parent.shared = true
		m.processes[r.PID] = parent
	}
	if m.copied > freeCopies+copyRatio*m.inserted {
		return m.limit("processes that share too many mappings")
	}
	return nil
}

func (m *perfMaps) limit(detail string) error {
	return faultAt(PerfData.String(), -1, fault.ErrLimit, "%s", detail)
}

// object returns the object for the mapped file with a name and build ID. If id is "", the build ID
// comes from the recording's table of build IDs.
func (m *perfMaps) object(name, id string) *object {
	ids := []string{id}
	if id == "" {
		ids = m.buildIDs[tableName(name)]
	}
	if len(ids) > 0 {
		id = ids[0]
	}
	key := objectKey{name, id}
	o := m.objects[key]
	if o == nil {
		o = m.newObject(key, m.choice.ours(name, ids...))
	}
	return o
}

// tableName returns the name that a mapping has in the recording's table of build IDs: for the
// kernel, the mapping's name without the symbol.
func tableName(name string) string {
	if isKernelName(name) {
		return name[:strings.IndexByte(name, ']')+1]
	}
	return name
}

// process returns the mappings of a sample's process, nil if there are none.
func (m *perfMaps) process(pid, tid int32) *space {
	if pid == perfdata.UnknownPID {
		pid = tid
		if known, ok := m.threads[tid]; ok {
			pid = known
		}
	}
	if s := m.processes[pid]; s != nil {
		return s
	}
	return m.everywhere
}

// find returns the mapping that contains an address, of a process or of the kernel. It returns nil
// if there is none.
func (m *perfMaps) find(process *space, address uint64) *mapping {
	if process != nil {
		if at := process.find(address); at != nil {
			if at.anonymous {
				m.adopt(process)
			}
			return at
		}
	}
	return m.kernel.find(address)
}

// offset returns the file offset of an address in a mapping of the binary.
func (m *perfMaps) offset(at *mapping, address uint64) (uint64, bool) {
	if at.object.kernel {
		return m.choice.binary.Layout.Offset(address + at.delta)
	}
	return address + at.delta, true
}

// A mapping is a range of addresses to which a process has mapped one file.
type mapping struct {
	start, end uint64 // end is the first address after it
	delta      uint64 // added to an address, gives the file offset; for the kernel, the address that the linker assigned
	object     *object
	file       *object // the mapped file, even if the mapping is not executable
	anonymous  bool    // no file is mapped, and the memory is not known to hold a file's code
}

// A space holds the mappings of a process or of the kernel, which do not overlap, in ascending
// order.
type space struct {
	maps   []mapping
	last   int  // index of the one that was found last
	shared bool // by parent and child: to be copied before it is changed
}

// find returns the mapping of a process or of the kernel that contains an address, nil if there is
// none.
func (s *space) find(address uint64) *mapping {
	if s.last < len(s.maps) {
		if m := &s.maps[s.last]; address >= m.start && address < m.end {
			return m
		}
	}
	i := sort.Search(len(s.maps), func(i int) bool { return s.maps[i].end > address })
	if i == len(s.maps) || s.maps[i].start > address {
		return nil
	}
	s.last = i
	return &s.maps[i]
}

// insert adds a mapping, which replaces earlier mappings of the same addresses. It returns the
// number of mappings at higher addresses, which it may have moved in memory.
func (s *space) insert(m mapping) int {
	first := sort.Search(len(s.maps), func(i int) bool { return s.maps[i].end > m.start })
	after := first
	for after < len(s.maps) && s.maps[after].start < m.end {
		after++
	}
	var with [3]mapping
	parts := with[:0]
	if first < after && s.maps[first].start < m.start {
		left := s.maps[first]
		left.end = m.start
		parts = append(parts, left)
	}
	parts = append(parts, m)
	if first < after && s.maps[after-1].end > m.end {
		right := s.maps[after-1]
		right.start = m.end
		parts = append(parts, right)
	}
	s.maps = slices.Replace(s.maps, first, after, parts...)
	return len(s.maps) - first - len(parts)
}
