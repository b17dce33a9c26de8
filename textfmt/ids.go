package textfmt

// An idTable has a number for each of some symbol IDs. IDs stand close together from 0 on usually
// (format note 9), but may be anywhere: those that are small beside how many there are have a place
// of their own, the others are in a map.
type idTable struct {
	dense  []uint32 // numbers by ID, counted from 1; 0 for none
	sparse map[uint32]uint32
	len    int
}

// How many places there are for each ID, at most, and how many at first.
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

// add gives a number to an ID that has none.
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

// grow makes places for more IDs, for those in the map, too.
func (t *idTable) grow() {
	t.dense = append(t.dense, make([]uint32, max(len(t.dense), firstDense))...)
	for id, number := range t.sparse {
		if uint64(id) < uint64(len(t.dense)) {
			t.dense[id] = number + 1
			delete(t.sparse, id)
		}
	}
}

// each calls do for every ID, in no order.
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
