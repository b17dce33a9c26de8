// Command afdo-fetch-blob reads objects of object stores for afdo, which starts it for the URL of
// an object. Package internal/fetch describes the protocol between them.
package main

import (
	"github.com/go-afdo/afdo/fleet/remote/blob"
	"github.com/go-afdo/afdo/internal/fetch/helper"
)

func main() { helper.Main("afdo-fetch-blob", blob.Open) }
