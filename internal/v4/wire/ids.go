package wire

// An IDTable maps symbol IDs to numbers. IDs are usually close together, starting with 0 (format
// note 9), but may be anywhere. IDs that are small compared to their number have a slot in an
// array; others are in a map.
type IDTable struct {
	dense  []uint32 // numbers by ID, plus 1; 0 for none
	sparse map[uint32]uint32
	len    int
}

// Maximum number of array slots per ID, and initial number of slots.
const (
	denseShare = 8
	firstDense = 1 << 10
)

// Find returns the number that [IDTable.Add] has stored for an ID.
func (t *IDTable) Find(id uint32) (number uint32, ok bool) {
	if uint64(id) < uint64(len(t.dense)) {
		n := t.dense[id]
		return n - 1, n > 0
	}
	n, ok := t.sparse[id]
	return n, ok
}

// Add stores a number for an ID that has none.
func (t *IDTable) Add(id, number uint32) {
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
func (t *IDTable) grow() {
	t.dense = append(t.dense, make([]uint32, max(len(t.dense), firstDense))...)
	for id, number := range t.sparse {
		if uint64(id) < uint64(len(t.dense)) {
			t.dense[id] = number + 1
			delete(t.sparse, id)
		}
	}
}
