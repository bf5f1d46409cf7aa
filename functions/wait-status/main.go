// Command wait-status is the function that polls the steps of a run and says what the state machine does next.
package main

import "github.com/stackwright/stackwright/pkg/wire"

func main() { wire.Main((*wire.App).WaitStatus) }
