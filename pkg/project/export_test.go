package project

import "slices"

// Regions lists the regions that this version knows, sorted.
func Regions() []string { return slices.Clone(regions) }
