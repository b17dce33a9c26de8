package reapi

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// A client uploads what an action needs and has it executed.
type client struct {
	*testing.T
	storage   pb.ContentAddressableStorageClient
	cache     pb.ActionCacheClient
	execution pb.ExecutionClient
}

func newClient(t *testing.T) (*client, *Server) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s, g := New(), grpc.NewServer()
	s.Register(g)
	go func() { _ = g.Serve(listener) }()
	t.Cleanup(g.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &client{t, pb.NewContentAddressableStorageClient(conn), pb.NewActionCacheClient(conn), pb.NewExecutionClient(conn)}, s
}

// upload uploads those blobs that the server does not have.
func (c *client) upload(blobs ...[]byte) {
	c.Helper()
	byHash := make(map[string][]byte)
	ask := &pb.FindMissingBlobsRequest{}
	for _, data := range blobs {
		d := DigestOf(data)
		byHash[d.Hash] = data
		ask.BlobDigests = append(ask.BlobDigests, d)
	}
	missing, err := c.storage.FindMissingBlobs(c.Context(), ask)
	require.NoError(c, err)
	update := &pb.BatchUpdateBlobsRequest{}
	for _, d := range missing.MissingBlobDigests {
		update.Requests = append(update.Requests, &pb.BatchUpdateBlobsRequest_Request{Digest: d, Data: byHash[d.Hash]})
	}
	answer, err := c.storage.BatchUpdateBlobs(c.Context(), update)
	require.NoError(c, err)
	for _, r := range answer.Responses {
		require.Zero(c, r.GetStatus().GetCode())
	}
}

// action uploads a command with the files of a folder that it reads, and returns the action.
func (c *client) action(dir string, argv []string, output string, inputs ...string) *pb.Digest {
	c.Helper()
	var folder pb.Directory
	var blobs [][]byte
	for _, name := range inputs {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(c, err)
		folder.Files = append(folder.Files, &pb.FileNode{Name: name, Digest: DigestOf(data)})
		blobs = append(blobs, data)
	}
	return c.actionOf(&pb.Command{
		Arguments: argv, OutputPaths: []string{output},
		EnvironmentVariables: []*pb.Command_EnvironmentVariable{{Name: "PATH", Value: os.Getenv("PATH")}},
	}, &folder, blobs...)
}

func (c *client) actionOf(command *pb.Command, folder *pb.Directory, blobs ...[]byte) *pb.Digest {
	c.Helper()
	add := func(m proto.Message) *pb.Digest {
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		require.NoError(c, err)
		blobs = append(blobs, data)
		return DigestOf(data)
	}
	d := add(&pb.Action{CommandDigest: add(command), InputRootDigest: add(folder)})
	c.upload(blobs...)
	return d
}

// execute returns the result of an action, from the cache if it is there.
func (c *client) execute(d *pb.Digest) (*pb.ActionResult, error) {
	if result, err := c.cache.GetActionResult(c.Context(), &pb.GetActionResultRequest{ActionDigest: d}); status.Code(err) != codes.NotFound {
		return result, err
	}
	stream, err := c.execution.Execute(c.Context(), &pb.ExecuteRequest{ActionDigest: d})
	if err != nil {
		return nil, err
	}
	operation, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	var answer pb.ExecuteResponse
	err = operation.GetResponse().UnmarshalTo(&answer)
	return answer.Result, err
}

// object executes a compile, which has to succeed, and returns its object.
func (c *client) object(d *pb.Digest) []byte {
	c.Helper()
	result, err := c.execute(d)
	require.NoError(c, err)
	require.Zero(c, result.ExitCode, "%s", result.StderrRaw)
	require.Len(c, result.OutputFiles, 1)
	blobs, err := c.storage.BatchReadBlobs(c.Context(), &pb.BatchReadBlobsRequest{Digests: []*pb.Digest{result.OutputFiles[0].Digest}})
	require.NoError(c, err)
	return blobs.Responses[0].Data
}

const (
	numUnits     = 20
	numRefreshed = 3
)

// A project is sources with a profile.
type project struct {
	*client
	dir      string
	compiler *driver.Compiler
}

func newProject(c *client) *project {
	p := &project{client: c, dir: c.TempDir()}
	c.Setenv("AFDO_CACHE_DIR", c.TempDir())
	for i := range numUnits {
		text := fmt.Sprintf("static int twice(int x) { return 2 * x; }\nint f%d(int x) { return twice(x); }\n", i)
		require.NoError(c, os.WriteFile(filepath.Join(p.dir, source(i)), []byte(text), 0o666))
	}
	var err error
	p.compiler, err = driver.FindCompiler(t.Context(), command.Parse([]string{"gcc"}, p.dir), nil)
	require.NoError(c, err)
	p.refresh(0)
	return p
}

func source(i int) string { return fmt.Sprintf("u%d.c", i) }

// refresh writes a profile with other counts for the first few units.
func (p *project) refresh(changed int) {
	whole := profile.New()
	for i := range 2_000 { // most of them of other programs
		var body profile.Body
		body.Count(1, 0, 100)
		count := uint64(100)
		if i < changed {
			count = 1_000
		}
		whole.AddFunction(whole.AddSymbol(whole.AddUnit(source(i)), fmt.Sprintf("f%d", i)), profile.Function{HeadCount: count, Records: body.Records()})
	}
	var v4, old bytes.Buffer
	require.NoError(p, builder.Write(&v4, whole, builder.Options{}))
	require.NoError(p, os.WriteFile(filepath.Join(p.dir, "prof.v4"), v4.Bytes(), 0o666))
	_, err := gcov.Write(&old, whole, gcov.WriteOptions{Version: p.compiler.Reads()})
	require.NoError(p, err)
	require.NoError(p, os.WriteFile(filepath.Join(p.dir, "whole.afdo"), old.Bytes(), 0o666))
}

// sliced compiles all units with their slices, and compares an object with that of this machine.
func (p *project) sliced() (sizes int64) {
	cache, err := driver.OpenCache()
	require.NoError(p, err)
	l := driver.Launcher{Profile: filepath.Join(p.dir, "prof.v4"), Cache: cache}
	for i := range numUnits {
		plan, err := l.Prepare(t.Context(), []string{"gcc", "-O2", "-c", source(i), "-o", source(i) + ".o"}, p.dir)
		require.NoError(p, err)
		require.False(p, filepath.IsAbs(plan.Slice))
		info, err := os.Stat(filepath.Join(p.dir, plan.Slice))
		require.NoError(p, err)
		sizes += info.Size()
		object := p.object(p.action(p.dir, plan.Argv, source(i)+".o", source(i), plan.Slice))
		if i == 0 {
			cmd := exec.Command(plan.Argv[0], plan.Argv[1:]...)
			cmd.Dir = p.dir
			require.NoError(p, cmd.Run())
			here, err := os.ReadFile(filepath.Join(p.dir, source(i)+".o"))
			require.NoError(p, err)
			require.True(p, bytes.Equal(here, object))
		}
	}
	return sizes
}

// whole compiles all units with the whole profile.
func (p *project) whole() {
	for i := range numUnits {
		argv := strings.Fields("gcc -O2 -fauto-profile=whole.afdo -c " + source(i) + " -o " + source(i) + ".o")
		p.object(p.action(p.dir, argv, source(i)+".o", source(i), "whole.afdo"))
	}
}

// Of 20 actions, a refresh that changes 3 units runs 3 again, and all of them with the whole
// profile.
func TestRefresh(t *testing.T) {
	testenv.Tool(t, "gcc")
	c, s := newClient(t)
	p := newProject(c)
	runs := func(build func()) int64 {
		before := s.Runs()
		build()
		return s.Runs() - before
	}
	sliced := func() { t.Logf("slices of %d bytes together", p.sliced()) }
	require.Equal(t, int64(numUnits), runs(sliced), "at first")
	require.Zero(t, runs(sliced), "again")
	require.Equal(t, int64(numUnits), runs(p.whole), "at first with the whole profile")
	p.refresh(numRefreshed)
	require.Equal(t, int64(numRefreshed), runs(sliced), "after the refresh")
	require.Equal(t, int64(numUnits), runs(p.whole), "after the refresh with the whole profile")
}

// An action sees its inputs and nothing else, and one that fails is not remembered.
func TestExactInputs(t *testing.T) {
	c, s := newClient(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in"), []byte("text"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hidden"), nil, 0o666))
	d := c.action(dir, []string{"sh", "-c", "ls > out"}, "out", "in")
	require.Equal(t, "in\nout\n", string(c.object(d)))
	failing := c.action(dir, []string{"sh", "-c", "cat hidden > out"}, "out", "in")
	for range 2 {
		result, err := c.execute(failing)
		require.NoError(t, err)
		require.NotZero(t, result.ExitCode)
	}
	require.Equal(t, int64(3), s.Runs())
}

// What is missing or leads out of the folder is refused.
func TestRefused(t *testing.T) {
	c, _ := newClient(t)
	run := func(command *pb.Command, folder *pb.Directory) codes.Code {
		_, err := c.execute(c.actionOf(command, folder, []byte("x")))
		return status.Code(err)
	}
	ok := &pb.Command{Arguments: []string{"true"}}
	x := DigestOf([]byte("x"))
	require.Equal(t, codes.InvalidArgument, run(ok, &pb.Directory{Files: []*pb.FileNode{{Name: "../x", Digest: x}}}))
	require.Equal(t, codes.NotFound, run(ok, &pb.Directory{Files: []*pb.FileNode{{Name: "x", Digest: DigestOf([]byte("y"))}}}))
	require.Equal(t, codes.InvalidArgument, run(&pb.Command{Arguments: []string{"true"}, OutputPaths: []string{"/etc/x"}}, &pb.Directory{}))
	require.Equal(t, codes.InvalidArgument, run(&pb.Command{}, &pb.Directory{}))
	require.Equal(t, codes.InvalidArgument, run(&pb.Command{Arguments: []string{"./none"}}, &pb.Directory{}))
	_, err := c.execute(DigestOf([]byte("no action")))
	require.Equal(t, codes.NotFound, status.Code(err))
	answer, err := c.storage.BatchUpdateBlobs(context.Background(), &pb.BatchUpdateBlobsRequest{Requests: []*pb.BatchUpdateBlobsRequest_Request{{Digest: x, Data: []byte("other")}}})
	require.NoError(t, err)
	require.Equal(t, int32(codes.InvalidArgument), answer.Responses[0].Status.Code)
}
