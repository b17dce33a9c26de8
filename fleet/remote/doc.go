// Package remote reads a file of an HTTP server in pieces, such as a profile in an
// object store of which one unit is wanted. A [File] is an io.ReaderAt with a
// size, which package afdo and all who read through that interface take.
//
//	f, err := remote.Open(ctx, "https://example.com/all.afdo")
//	…
//	r, err := afdo.NewReader(f, f.Size())
//
// Opening fetches the end of the file, and with it the size and the version (ETag). All later
// requests insist on that version: if the file is replaced while it is read, reading fails with
// afdo.ErrChanged and never mixes the two files. Requests that fail for a transient reason are
// tried again. A server is not trusted: it may neither claim a file larger than [MaxSize] nor stay
// silent for longer than [Timeout].
package remote
