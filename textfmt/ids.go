package textfmt

// An idTable assigns a number to symbol IDs. IDs are usually close together, starting with 0
// (format note 9), but may be anywhere. IDs that are small compared to their number have a slot in
// an array; others are in a map.
type idTable struct {
	dense  []uint32 // numbers by ID, plus 1; 0 for none
	sparse map[uint32]uint32
	len    int
}

// Maximum number of array slots per ID, and initial number of slots.
const (
	denseShare = 8
	firstDense = 1 << 10
)

// find returns the number of an ID.
func (t *idTable) find(id uint32) (number uint32, ok bool) {
	if uint64(id) < uint64(len(t.dense)) {
		n := t.dense[id]
		return n - 1, n > 0
	}
	n, ok := t.sparse[id]
	return n, ok
}

// add assigns a number to an ID that has none.
func (t *idTable) add(id, number uint32) {
	if t.len++; denseShare*t.len >= 2*len(t.dense) {
		t.grow()
	}
	if uint64(id) < uint64(len(t.dense)) {
		t.dense[id] = number + 1
		return
	}
	if t.sparse == nil {
		t.sparse = make(map[uint32]uint32)
	}
	t.sparse[id] = number
}

// grow enlarges the array, and moves IDs from the map to it.
func (t *idTable) grow() {
	t.dense = append(t.dense, make([]uint32, max(len(t.dense), firstDense))...)
	for id, number := range t.sparse {
		if uint64(id) < uint64(len(t.dense)) {
			t.dense[id] = number + 1
			delete(t.sparse, id)
		}
	}
}

// each calls do for every ID, in no particular order.
func (t *idTable) each(do func(id, number uint32)) {
	for id, n := range t.dense {
		if n > 0 {
			do(uint32(id), n-1)
		}
	}
	for id, number := range t.sparse {
		do(id, number)
	}
}
