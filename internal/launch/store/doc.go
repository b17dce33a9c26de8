// Package store is the folder of the launcher's cache: files by kind and key, which appear whole,
// are checked when they are read, and are removed when they have not been used for long.
package store
