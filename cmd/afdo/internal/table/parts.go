package table

import (
	"fmt"
	"io"
)

// A Part is a table with a heading.
type Part struct {
	Heading string
	*Table
}

// WriteParts writes a table without a heading and, below it, those of the parts that are not empty.
func WriteParts(w io.Writer, head *Table, parts ...Part) error {
	if err := head.Write(w, 0); err != nil {
		return err
	}
	for _, part := range parts {
		if part.Empty() {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s\n", part.Heading); err != nil {
			return err
		}
		if err := part.Write(w, 2); err != nil {
			return err
		}
	}
	return nil
}
