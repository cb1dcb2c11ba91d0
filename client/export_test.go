package client

// Flat is what Server.Call does with a block.
var Flat = flat

// ReadToolResult is how CallTool reads results.
var ReadToolResult = readToolResult
