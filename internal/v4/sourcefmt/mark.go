package sourcefmt

// A Mark is what is remembered of a line: so little that the text cannot be told from it.
type Mark = byte

// The marks. Those of lines with words are the highest bits of the hash of the longest word, the
// first one of several, behind FirstWords.
const (
	NoTokens   Mark = iota // no line of code
	CloseBrace             // a lone "}"
	NoWords                // other punctuation
	FirstWords
	NumMarks = FirstWords + 1<<WordBits
)

// WordBits is how many bits that are.
const WordBits = 4
