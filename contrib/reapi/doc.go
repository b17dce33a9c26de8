// Package reapi is a small server of the Remote Execution API, version 2: Execution, content
// addressable storage and action cache, in memory. It runs each action in a folder that has exactly
// its inputs. Tests and trials are what it is for: an action is a process of the server's user.
//
// It leaves out ByteStream and so blobs beyond a message, directories and links among the outputs,
// and platforms.
package reapi
