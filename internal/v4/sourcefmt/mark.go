package sourcefmt

// A Mark is what is remembered of a line: so little that the text cannot be told from it.
type Mark = byte

// The marks. Those of lines with words are the highest bits of a hash, behind FirstWords.
const (
	NoTokens   Mark = iota // no line of code
	CloseBrace             // a lone "}"
	NoWords                // other punctuation
	FirstWords
	NumMarks = FirstWords + 1<<WordBits
)

// WordBits is how many bits of its hash the mark of a line with words has.
const WordBits = 5
