package symbolize

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/files"
)

// A spilled is a temporary file into which a section is being decompressed. Decompression is slower
// than everything else, so the file can be read while it grows.
type spilled struct {
	files.Temp
	section *section

	mu      sync.Mutex
	more    sync.Cond
	there   uint64 // number of bytes written
	ended   bool   // no more bytes will be written
	err     error  // the reason, if the file is not complete
	dropped bool   // the section is no longer needed
}

// spill starts decompression into a temporary file. The file is deleted when the object is closed
// or the process ends.
func (s *section) spill(in io.ReadCloser) error {
	temp, err := files.CreateTemp("", "afdo-section-*")
	if err != nil {
		in.Close()
		return fmt.Errorf("symbolize: %s: decompressing %s: %w", s.file, s.name, err)
	}
	f := &spilled{Temp: temp, section: s}
	f.more.L = &f.mu
	s.at, s.spilled = temp, f
	s.object.spillMu.Lock()
	defer s.object.spillMu.Unlock()
	s.object.spilled = append(s.object.spilled, f)
	go func() {
		defer in.Close()
		f.end(f.fill(in))
	}()
	return nil
}

// fill decompresses until the file has the size of the section.
func (f *spilled) fill(in io.Reader) error {
	buf := make([]byte, 1<<20)
	for f.there < f.section.size {
		n, err := io.ReadFull(in, buf[:min(uint64(len(buf)), f.section.size-f.there)])
		if err != nil {
			return f.section.faultAt(0, fault.ErrCompressed, "%d bytes instead of %d: %v", f.there+uint64(n), f.section.size, err)
		}
		if _, err := f.Write(buf[:n]); err != nil {
			return fmt.Errorf("symbolize: %s: decompressing %s (in TMPDIR): %w", f.section.file, f.section.name, err)
		}
		if !f.arrived(n) {
			return os.ErrClosed
		}
	}
	return nil
}

// arrived records that n more bytes have been written. It reports whether to continue.
func (f *spilled) arrived(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.there += uint64(n)
	f.more.Broadcast()
	return !f.dropped
}

func (f *spilled) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.err = true, err
	f.more.Broadcast()
}

// wait returns when the bytes before an offset have been written, or an error if that will not
// happen.
func (f *spilled) wait(until uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.there < until && !f.ended {
		f.more.Wait()
	}
	if f.there < until {
		return f.err
	}
	return nil
}

// close stops the decompression and deletes the file.
func (f *spilled) close() {
	f.mu.Lock()
	f.dropped = true
	for !f.ended {
		f.more.Wait()
	}
	f.mu.Unlock()
	_ = f.Close()
}

// whole waits until all sections have been decompressed. It returns an error if one is damaged,
// even if nobody has read it.
func (o *object) whole() error {
	o.spillMu.Lock()
	all := o.spilled
	o.spillMu.Unlock()
	for _, f := range all {
		if err := f.wait(f.section.size); err != nil {
			return err
		}
	}
	return nil
}
