package lines

import "bytes"

// longestName is more than the lines take that tell what a text is.
const longestName = 1 << 20

// Undecided tells whether a file that begins with head may be a text whose first lines are further
// on: it has no NUL and fewer than three whole lines that are neither blank nor a comment, which
// begins with #.
func Undecided(head []byte) bool {
	whole, size := content(head)
	return bytes.IndexByte(head, 0) < 0 && whole < 3 && size < longestName
}

// OnlyComments tells whether all lines are blank or comments.
func OnlyComments(text []byte) bool {
	_, size := content(text)
	return size == 0 && bytes.IndexByte(text, 0) < 0
}

// content counts the whole lines that are neither blank nor a comment, three at most, and the bytes
// of all such lines.
func content(text []byte) (whole, size int) {
	for len(text) > 0 && whole < 3 {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		text = rest
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		size += len(line)
		if ended {
			whole++
		}
	}
	return whole, size
}
