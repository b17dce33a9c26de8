// Command hello prints a line. It measures the minimum cost of a Go process.
package main

import "fmt"

func main() { fmt.Println("hello") }
