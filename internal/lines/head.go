package lines

import "bytes"

// longestName limits how many bytes of a text Undecided looks at: the lines that show the format of
// a real text are shorter.
const longestName = 1 << 20

// Undecided reports whether more than head is needed to recognise the format of a file that begins
// with head. This is so if head may be the beginning of a text, because it has no NUL, and has
// fewer than three whole lines besides blank lines and comments. A comment is a line that begins
// with #.
func Undecided(head []byte) bool {
	whole, size := content(head)
	return bytes.IndexByte(head, 0) < 0 && whole < 3 && size < longestName
}

// OnlyComments reports whether all lines of a text are blank or begin with #.
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
