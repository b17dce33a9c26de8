package reapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	pb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// A Storage keeps blobs by their SHA-256.
type Storage struct {
	pb.UnimplementedContentAddressableStorageServer
	mu    sync.Mutex
	blobs map[string][]byte
}

// NewStorage returns an empty Storage.
func NewStorage() *Storage { return &Storage{blobs: make(map[string][]byte)} }

// DigestOf returns the digest of a blob.
func DigestOf(data []byte) *pb.Digest {
	sum := sha256.Sum256(data)
	return &pb.Digest{Hash: hex.EncodeToString(sum[:]), SizeBytes: int64(len(data))}
}

// Put keeps a blob.
func (s *Storage) Put(data []byte) *pb.Digest {
	d := DigestOf(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[d.Hash] = data
	return d
}

// Get returns a blob. The error has the code NotFound if there is none of that digest.
func (s *Storage) Get(d *pb.Digest) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.blobs[d.GetHash()]
	if !ok && d.GetHash() == DigestOf(nil).Hash {
		return nil, nil // the empty blob is always there
	}
	if !ok || int64(len(data)) != d.GetSizeBytes() {
		return nil, status.Errorf(codes.NotFound, "no blob %s of %d bytes", d.GetHash(), d.GetSizeBytes())
	}
	return data, nil
}

// message reads a blob that is a message.
func (s *Storage) message(d *pb.Digest, m proto.Message) error {
	data, err := s.Get(d)
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(data, m); err != nil {
		return status.Errorf(codes.InvalidArgument, "blob %s: %v", d.GetHash(), err)
	}
	return nil
}

// FindMissingBlobs tells which blobs there are not.
func (s *Storage) FindMissingBlobs(_ context.Context, r *pb.FindMissingBlobsRequest) (*pb.FindMissingBlobsResponse, error) {
	answer := &pb.FindMissingBlobsResponse{}
	for _, d := range r.BlobDigests {
		if _, err := s.Get(d); err != nil {
			answer.MissingBlobDigests = append(answer.MissingBlobDigests, d)
		}
	}
	return answer, nil
}

// BatchUpdateBlobs keeps blobs that are what their digests say.
func (s *Storage) BatchUpdateBlobs(_ context.Context, r *pb.BatchUpdateBlobsRequest) (*pb.BatchUpdateBlobsResponse, error) {
	answer := &pb.BatchUpdateBlobsResponse{}
	for _, one := range r.Requests {
		code := codes.OK
		if proto.Equal(DigestOf(one.Data), one.Digest) {
			s.Put(one.Data)
		} else {
			code = codes.InvalidArgument
		}
		answer.Responses = append(answer.Responses, &pb.BatchUpdateBlobsResponse_Response{Digest: one.Digest, Status: &spb.Status{Code: int32(code)}})
	}
	return answer, nil
}

// BatchReadBlobs returns blobs.
func (s *Storage) BatchReadBlobs(_ context.Context, r *pb.BatchReadBlobsRequest) (*pb.BatchReadBlobsResponse, error) {
	answer := &pb.BatchReadBlobsResponse{}
	for _, d := range r.Digests {
		data, err := s.Get(d)
		answer.Responses = append(answer.Responses, &pb.BatchReadBlobsResponse_Response{Digest: d, Data: data, Status: status.Convert(err).Proto()})
	}
	return answer, nil
}
