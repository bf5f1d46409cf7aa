package asl

// Size is what payloads are measured with.
var Size = size
