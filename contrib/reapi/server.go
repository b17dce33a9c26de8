package reapi

import (
	"context"
	"sync"
	"sync/atomic"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	pb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
)

// A Server executes actions and remembers their results.
type Server struct {
	pb.UnimplementedExecutionServer
	pb.UnimplementedActionCacheServer
	Storage *Storage

	runs    atomic.Int64
	mu      sync.Mutex
	results map[string]*pb.ActionResult // by the hash of the action
}

// New returns a Server that remembers nothing.
func New() *Server {
	return &Server{Storage: NewStorage(), results: make(map[string]*pb.ActionResult)}
}

// Register gives the three services to a gRPC server.
func (s *Server) Register(g *grpc.Server) {
	pb.RegisterExecutionServer(g, s)
	pb.RegisterActionCacheServer(g, s)
	pb.RegisterContentAddressableStorageServer(g, s.Storage)
}

// Runs returns how many actions have been run.
func (s *Server) Runs() int64 { return s.runs.Load() }

// GetActionResult returns what is known of an action.
func (s *Server) GetActionResult(_ context.Context, r *pb.GetActionResultRequest) (*pb.ActionResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if result, ok := s.results[r.GetActionDigest().GetHash()]; ok {
		return result, nil
	}
	return nil, status.Errorf(codes.NotFound, "no result of action %s", r.GetActionDigest().GetHash())
}

// Execute runs an action unless its result is known.
func (s *Server) Execute(r *pb.ExecuteRequest, stream grpc.ServerStreamingServer[longrunningpb.Operation]) error {
	answer := &pb.ExecuteResponse{}
	if !r.SkipCacheLookup {
		answer.Result, _ = s.GetActionResult(stream.Context(), &pb.GetActionResultRequest{ActionDigest: r.ActionDigest})
		answer.CachedResult = answer.Result != nil
	}
	if !answer.CachedResult {
		var err error
		if answer.Result, err = s.run(stream.Context(), r.ActionDigest); err != nil {
			return err
		}
	}
	packed, err := anypb.New(answer)
	if err != nil {
		return err
	}
	return stream.Send(&longrunningpb.Operation{
		Name: r.ActionDigest.GetHash(), Done: true,
		Result: &longrunningpb.Operation_Response{Response: packed},
	})
}

// run runs an action, and remembers a result that is a success.
func (s *Server) run(ctx context.Context, d *pb.Digest) (*pb.ActionResult, error) {
	var action pb.Action
	if err := s.Storage.message(d, &action); err != nil {
		return nil, err
	}
	var command pb.Command
	if err := s.Storage.message(action.CommandDigest, &command); err != nil {
		return nil, err
	}
	if action.Timeout != nil {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, action.Timeout.AsDuration())
		defer stop()
	}
	s.runs.Add(1)
	result, err := s.Storage.runIn(ctx, &command, action.InputRootDigest)
	if err == nil && result.ExitCode == 0 && !action.DoNotCache {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.results[d.Hash] = result
	}
	return result, err
}
