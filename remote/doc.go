// Package remote reads a file of an HTTP server in pieces, such as a profile in an
// object store of which one unit is wanted. A [File] is an io.ReaderAt with a
// size, which package afdo and all who read through that interface take.
//
//	f, err := remote.Open(ctx, "https://example.com/all.afdo")
//	…
//	r, err := afdo.NewReader(f, f.Size())
//
// Opening fetches the end of the file. The answer tells its size and its version (ETag), which all
// later requests insist on: a file that is replaced while it is read gives afdo.ErrChanged and
// never a mixture. Requests that fail for reasons that pass are tried again.
package remote
