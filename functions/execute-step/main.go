// Command execute-step is the function that starts one step of a run.
package main

import "github.com/stackwright/stackwright/pkg/wire"

func main() { wire.Main((*wire.App).ExecuteStep) }
