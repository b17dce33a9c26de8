package builder

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/index"
)

// writeIndexed writes the file with an index, which is computed from the rest of the file.
func (f *fileLayout) writeIndexed(w io.Writer, o Options) error {
	var plain bytes.Buffer
	if err := f.write(&plain, o); err != nil {
		return err
	}
	r, err := afdo.OpenBytes(plain.Bytes())
	if err == nil {
		err = index.Write(w, r, o.Index)
	}
	if err != nil {
		return fmt.Errorf("builder: %w", err)
	}
	return nil
}
