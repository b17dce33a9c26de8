// Package become replaces this process by another program. Where the system cannot do that, it runs
// the program as a child and ends with the child's exit status.
package become
