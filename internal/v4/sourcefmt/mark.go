package sourcefmt

// A Mark is a fingerprint of a line, too short to reveal its text.
type Mark = byte

// The marks. The mark of a line with words is FirstWords plus the highest WordBits bits of the hash
// of its longest word, or of the first one if there are several.
const (
	NoTokens   Mark = iota // not a line of code
	CloseBrace             // only a "}"
	NoWords                // other punctuation
	FirstWords
	NumMarks = FirstWords + 1<<WordBits
)

// WordBits is the number of bits of the hash.
const WordBits = 4
