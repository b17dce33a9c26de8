// Package fuzz holds the fuzz target that goes through all formats, and what
// OSS-Fuzz and ClusterFuzzLite need to build the targets of the whole tree. See README.md.
package fuzz
