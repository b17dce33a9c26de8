package symbolize

import (
	"cmp"
	"slices"
)

// A row is a range of code addresses with the source line of the code.
type row struct {
	low, high                   uint64
	file, line, column, discrim uint32
}

// Opcodes of line programs (DWARF 5, 6.2.5).
const (
	lnsCopy             = 1
	lnsAdvancePC        = 2
	lnsAdvanceLine      = 3
	lnsSetFile          = 4
	lnsSetColumn        = 5
	lnsNegateStmt       = 6
	lnsSetBasicBlock    = 7
	lnsConstAddPC       = 8
	lnsFixedAdvancePC   = 9
	lnsSetPrologueEnd   = 10
	lnsSetEpilogueBegin = 11
	lnsSetISA           = 12

	lneEndSequence      = 1
	lneSetAddress       = 2
	lneDefineFile       = 3
	lneSetDiscriminator = 4
)

// A lineMachine executes the line program of a compilation unit, and keeps the resulting rows that
// overlap the requested addresses.
type lineMachine struct {
	cursor
	header  *lineHeader
	worker  *worker
	targets []span // requested addresses, sorted

	addr, opIndex uint64
	row           row // file, line and discriminator of the next row

	sequence []row // rows of the current sequence
	rows     []row // rows of all sequences that overlap a target
}

// lineRows returns those rows of a unit's line table that overlap the address ranges targets,
// sorted by address. targets must be sorted.
func (w *worker) lineRows(u *dwarfUnit, targets []span) ([]row, error) {
	h, err := w.lineHeaderOf(u)
	if err != nil || h == nil {
		return nil, err
	}
	if err := w.spend(int(h.end - h.program)); err != nil {
		return nil, err
	}
	data, err := w.copy(h.sect, h.program, h.end-h.program, w.lineBuf)
	if err != nil {
		return nil, err
	}
	if h.sect.data == nil {
		w.lineBuf = data
	}
	h.files = h.files[:h.listed]
	m := lineMachine{header: h, worker: w, targets: targets, sequence: w.sequence[:0], rows: w.rows[:0]}
	m.cursor = *newCursor(data, h.program, h.sect)
	m.run()
	w.sequence, w.rows = m.sequence, m.rows
	if m.Err != nil {
		return nil, m.err()
	}
	slices.SortStableFunc(m.rows, func(a, b row) int { return cmp.Compare(a.low, b.low) })
	return m.rows, nil
}

func (m *lineMachine) reset() {
	m.addr, m.opIndex = 0, 0
	m.row = row{file: 1, line: 1}
	m.sequence = m.sequence[:0]
}

func (m *lineMachine) run() {
	h := m.header
	m.reset()
	constAdd := uint64(255-h.opcodeBase) / h.lineRange
	for m.Pos < len(m.Data) && m.Err == nil {
		op := m.Data[m.Pos]
		m.Pos++
		switch {
		case op >= h.opcodeBase:
			op -= h.opcodeBase
			m.advance(uint64(op) / h.lineRange)
			m.row.line += uint32(h.lineBase + int64(uint64(op)%h.lineRange))
			m.emit()
		case op == 0:
			m.extended()
		case op == lnsCopy:
			m.emit()
		case op == lnsAdvancePC:
			m.advance(m.ULEB())
		case op == lnsAdvanceLine:
			m.row.line += uint32(m.SLEB())
		case op == lnsSetFile:
			m.row.file = uint32(min(m.ULEB(), 1<<32-1))
		case op == lnsSetColumn && m.worker.file.columns:
			m.row.column = uint32(min(m.ULEB(), 1<<32-1))
		case op == lnsSetColumn, op == lnsSetISA:
			m.SkipLEB()
		case op == lnsNegateStmt, op == lnsSetBasicBlock, op == lnsSetPrologueEnd, op == lnsSetEpilogueBegin:
		case op == lnsConstAddPC:
			m.advance(constAdd)
		case op == lnsFixedAdvancePC:
			m.addr += uint64(m.Uint16(aField))
			m.opIndex = 0
		default:
			for range h.lengths[op-1] {
				m.SkipLEB()
			}
		}
	}
}

// advance advances the address by n operations (DWARF 5, 6.2.5.1).
func (m *lineMachine) advance(n uint64) {
	h := m.header
	if h.maxOps == 1 {
		m.addr += h.minInst * n
		return
	}
	m.addr += h.minInst * ((m.opIndex + n) / h.maxOps)
	m.opIndex = (m.opIndex + n) % h.maxOps
}

func (m *lineMachine) emit() {
	if len(m.sequence)%rowsHeld == 0 {
		m.Stop(m.worker.hold(rowsHeld * rowCost))
	}
	m.row.low = m.addr
	m.sequence = append(m.sequence, m.row)
	m.row.discrim = 0
}

// rowsHeld is the number of rows that are charged to the budget at once.
const rowsHeld = 64

func (m *lineMachine) extended() {
	n := m.ULEB()
	p := m.Take(n, aField)
	if m.Err != nil || n == 0 {
		return
	}
	args := newCursor(p, m.offset()-n, m.sect)
	args.Pos = 1
	switch p[0] {
	case lneEndSequence:
		m.emit()
		m.endSequence()
		m.reset()
	case lneSetAddress:
		if n > 9 {
			args.fail(errLine, "an address of %d bytes", n-1)
		}
		m.addr, m.opIndex = args.uint(uint8(n-1)), 0
	case lneDefineFile:
		m.worker.count(args, fileCost)
		if name := args.String("a string"); m.header.version < 5 {
			m.header.files = append(m.header.files, args.lineFile(name))
		}
	case lneSetDiscriminator:
		m.row.discrim = uint32(min(args.ULEB(), 1<<32-1))
	}
	m.Stop(args.err())
}

// endSequence ends a sequence of rows in the line table. It keeps the rows of the sequence that
// overlap a requested address range. The last row of a sequence only marks its end address.
func (m *lineMachine) endSequence() {
	rows := m.sequence
	if !slices.IsSortedFunc(rows, compareRows) {
		slices.SortStableFunc(rows[:len(rows)-1], compareRows)
	}
	end := rows[len(rows)-1].low
	low := rows[0].low
	if m.worker.file.discarded(low, m.header.addrSize) || !meets(m.targets, span{low, end}) {
		return
	}
	for i, r := range rows[:len(rows)-1] {
		r.high = min(rows[i+1].low, end)
		if r.low < r.high && meets(m.targets, span{r.low, r.high}) {
			m.rows = append(m.rows, r)
		}
	}
}

func compareRows(a, b row) int { return cmp.Compare(a.low, b.low) }

// meets reports whether a range overlaps one of the spans, which must be sorted and disjoint.
func meets(spans []span, s span) bool {
	i, _ := slices.BinarySearchFunc(spans, s.low, func(t span, low uint64) int {
		if t.high <= low {
			return -1
		}
		return 1
	})
	return i < len(spans) && spans[i].low < s.high
}
