package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/go-afdo/afdo/internal/together"
)

// maxSaid is the maximum length in bytes of the compiler's messages that the error of Run contains.
const maxSaid = 2000

// Run runs a compiler in the folder dir. folder is where the compiler puts its temporary files. If
// the compiler fails, the error contains its messages.
func Run(ctx context.Context, dir, folder string, argv []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+folder) // what it leaves there is removed, too
	together.End(cmd)
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		return nil
	}
	if _, missing := os.Stat(dir); missing != nil && errors.Is(err, fs.ErrNotExist) {
		return missing // and not the compiler, as err has it
	}
	if text := strings.TrimSpace(string(said[:min(len(said), maxSaid)])); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}
