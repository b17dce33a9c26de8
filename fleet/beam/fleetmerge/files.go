package fleetmerge

import (
	"bufio"
	"context"
	"crypto/rand"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// create writes a file that appears completely or not at all. If the file system can rename files,
// it writes to a temporary name. Object stores that cannot rename show an object only when it is
// complete; if the writer's context ends before Close, nothing appears.
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

// writeFile writes a file. It closes the file only if everything has been written.
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

// remove removes a file that is no longer needed. It ignores errors, since a leftover file does no
// harm.
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
