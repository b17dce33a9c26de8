// Command afdo-fetch-blob reads objects of object stores for afdo, which starts it for the URL of
// an object. Package internal/fetch describes the protocol between them.
package main

import (
	"github.com/go-afdo/afdo/internal/fetch/helper"
	"github.com/go-afdo/afdo/remote/blob"
)

func main() { helper.Main("afdo-fetch-blob", blob.Open) }
