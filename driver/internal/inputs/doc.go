// Package inputs finds what a compile reads: the text of its preprocessed sources, and the files
// whose change or appearance would change that. What was found is kept in the cache as a [Record].
package inputs
