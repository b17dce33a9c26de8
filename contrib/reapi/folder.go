package reapi

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	pb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// runIn runs a command in a new folder that has the inputs, and keeps its outputs.
func (s *Storage) runIn(ctx context.Context, c *pb.Command, inputs *pb.Digest) (*pb.ActionResult, error) {
	if len(c.Arguments) == 0 {
		return nil, status.Error(codes.InvalidArgument, "a command without arguments")
	}
	root, err := os.MkdirTemp("", "action-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	if err := s.layOut(root, inputs, 0); err != nil {
		return nil, err
	}
	dir, err := inside(root, c.WorkingDirectory)
	if err != nil {
		return nil, err
	}
	for _, output := range c.OutputPaths {
		path, err := inside(dir, output)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
	}
	result, err := s.execute(ctx, c, dir)
	if err != nil {
		return nil, err
	}
	return result, s.collect(c, dir, result)
}

// execute runs the command.
func (s *Storage) execute(ctx context.Context, c *pb.Command, dir string) (*pb.ActionResult, error) {
	cmd := exec.CommandContext(ctx, c.Arguments[0], c.Arguments[1:]...)
	cmd.Dir, cmd.Env = dir, []string{}
	for _, v := range c.EnvironmentVariables {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if err != nil && !errors.As(err, &exit) {
		return nil, status.Errorf(codes.InvalidArgument, "%v", err)
	}
	return &pb.ActionResult{ExitCode: int32(cmd.ProcessState.ExitCode()), StdoutRaw: stdout.Bytes(), StderrRaw: stderr.Bytes()}, nil
}

// collect keeps those outputs that are files.
func (s *Storage) collect(c *pb.Command, dir string, result *pb.ActionResult) error {
	for _, output := range c.OutputPaths {
		path, err := inside(dir, output)
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return status.Errorf(codes.Unimplemented, "output %q is no file", output)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		result.OutputFiles = append(result.OutputFiles, &pb.OutputFile{Path: output, Digest: s.Put(data), IsExecutable: info.Mode()&0o100 != 0})
	}
	return nil
}

// maxDepth is how deep folders of inputs are at most.
const maxDepth = 100

// layOut writes a folder of inputs.
func (s *Storage) layOut(dir string, d *pb.Digest, depth int) error {
	var folder pb.Directory
	if err := s.message(d, &folder); err != nil {
		return err
	}
	if depth > maxDepth || len(folder.Symlinks) > 0 {
		return status.Error(codes.Unimplemented, "inputs that are links, or too deep")
	}
	for _, f := range folder.Files {
		data, err := s.Get(f.Digest)
		if err != nil {
			return err
		}
		path, err := inside(dir, f.Name)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o444)
		if f.IsExecutable {
			mode = 0o555
		}
		if err := os.WriteFile(path, data, mode); err != nil {
			return status.Errorf(codes.InvalidArgument, "%v", err)
		}
	}
	for _, sub := range folder.Directories {
		path, err := inside(dir, sub.Name)
		if err != nil {
			return err
		}
		if err := os.Mkdir(path, 0o777); err != nil {
			return status.Errorf(codes.InvalidArgument, "%v", err)
		}
		if err := s.layOut(path, sub.Digest, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// inside returns a path below a folder, and refuses one that leads out of it.
func inside(dir, path string) (string, error) {
	if path != "" && !filepath.IsLocal(path) {
		return "", status.Errorf(codes.InvalidArgument, "path %q is not inside", path)
	}
	return filepath.Join(dir, path), nil
}
