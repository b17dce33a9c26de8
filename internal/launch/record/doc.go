// Package record is what the cache has of the inputs of a compile: the states of the files that it
// read, the folders in which other files could take their place, and the text of its sources.
package record
