package fleetmerge

import (
	"bufio"
	"context"
	"crypto/rand"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// create writes a file that appears whole or not at all. Where files can be renamed, it has another
// name until it is complete. Object stores that cannot show an object once all of it is there: a
// writer whose context ends before it is closed leaves nothing.
func create(ctx context.Context, path string, write func(io.Writer) error) error {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	renamer, ok := fs.(filesystem.Renamer)
	name := path
	if ok {
		name += ".tmp-" + rand.Text()
	}
	if err := writeFile(ctx, fs, name, write); err != nil {
		if ok {
			remove(ctx, name)
		}
		return err
	}
	if ok {
		return renamer.Rename(ctx, name, path)
	}
	return nil
}

// writeFile writes a file and closes it only if all of it has been written.
func writeFile(ctx context.Context, fs filesystem.Interface, path string, write func(io.Writer) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	file, err := fs.OpenWrite(ctx, path)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	if err = write(buffered); err == nil {
		err = buffered.Flush()
	}
	if err != nil {
		cancel()
		_ = file.Close()
		return err
	}
	return file.Close()
}

// remove removes a file that is needed no longer. That it is left does no harm.
func remove(ctx context.Context, path string) {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return
	}
	defer fs.Close()
	if remover, ok := fs.(filesystem.Remover); ok {
		_ = remover.Remove(ctx, path)
	}
}
