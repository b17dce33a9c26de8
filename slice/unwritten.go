package slice

import "sync"

// Demands are the symbols of the names that are in every text, [unwritten], each with the words
// that it needs there. A program has many, of lambdas above all, and each of its slices asks for
// all of them.
type demands struct {
	once sync.Once
	err  error
	all  []demand
}

type demand struct {
	symbol
	words  []uint32 // by hash, as a Text has them
	scopes []uint32
}

// in calls yield for the symbols that a text meets. The first call takes all of them apart.
func (d *demands) in(t *Text, x index, yield func(symbol)) error {
	d.once.Do(func() {
		d.err = x.byKeys(unwritten, anyName, func(sym symbol) { d.all = append(d.all, newDemand(sym)) })
	})
	for i := range d.all {
		if t.meets(&d.all[i]) {
			yield(d.all[i].symbol)
		}
	}
	return d.err
}

func anyName(string) bool { return true }

func newDemand(sym symbol) demand {
	d := demand{symbol: sym}
	needs(sym.name, func(word string) bool {
		d.words = append(d.words, wordHash(word))
		return true
	}, func(scope string) bool {
		d.scopes = append(d.scopes, wordHash(scope))
		return true
	})
	return d
}

// meets reports whether the words stand in the text.
func (t *Text) meets(d *demand) bool {
	for _, word := range d.words {
		if _, ok := t.words[word]; !ok {
			return false
		}
	}
	for _, scope := range d.scopes {
		if !t.unsure && !t.words[scope] {
			return false
		}
	}
	return true
}
