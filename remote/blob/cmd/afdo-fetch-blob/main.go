// Command afdo-fetch-blob reads objects of object stores for afdo, which starts it when it is given
// the URL of one. Package internal/fetch says how they talk.
package main

import (
	"github.com/go-afdo/afdo/internal/fetch/helper"
	"github.com/go-afdo/afdo/remote/blob"
)

func main() { helper.Main("afdo-fetch-blob", blob.Open) }
