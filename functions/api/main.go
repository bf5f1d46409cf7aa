// Command api is the function that answers HTTP requests: it starts, shows and controls runs.
package main

import "github.com/stackwright/stackwright/pkg/wire"

func main() { wire.Main(wire.API) }
