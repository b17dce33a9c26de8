// Command afdo-fetch reads files on HTTP servers for afdo, which starts it for each URL. Package
// internal/fetch describes the protocol between them.
package main

import (
	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/internal/fetch/helper"
)

func main() { helper.Main("afdo-fetch", remote.Open) }
