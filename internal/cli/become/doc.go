// Package become lets a process go on as another program. Where the system cannot replace a
// process, it runs the program and passes on its exit status.
package become
