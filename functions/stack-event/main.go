// Command stack-event is the function that wakes the run whose stack has changed its status.
package main

import "github.com/stackwright/stackwright/pkg/wire"

func main() { wire.Main((*wire.App).StackEvent) }
