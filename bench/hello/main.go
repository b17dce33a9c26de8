// Command hello prints a line: the least that a process of a Go program costs.
package main

import "fmt"

func main() { fmt.Println("hello") }
