// Command afdo-fetch reads files of HTTP servers for afdo, which starts it when it is given a URL.
// Package internal/fetch says how they talk.
package main

import (
	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/internal/fetch/helper"
)

func main() { helper.Main("afdo-fetch", remote.Open) }
