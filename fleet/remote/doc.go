// Package remote reads parts of a file on an HTTP server, for example one unit of a profile in an
// object store. A [File] is an io.ReaderAt with a size, so package afdo and others can read it like
// a local file.
//
//	f, err := remote.Open(ctx, "https://example.com/all.afdo")
//	…
//	r, err := afdo.NewReader(f, f.Size())
//
// Opening fetches the end of the file, and with it the size and the version (ETag). All later
// requests insist on that version: if the file is replaced while it is read, reading fails with
// afdo.ErrChanged and never mixes the two files. Requests that fail for a transient reason are
// repeated. A server is not trusted: it may neither claim a file larger than [MaxSize] nor stay
// silent for longer than [Timeout].
package remote
