// Package store is the launcher's cache on disk: files that are found by kind and key. A file
// appears completely or not at all, is checked when it is read, and is removed when it has not been
// used for long.
package store
