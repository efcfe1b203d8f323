// Package toolsets assembles the MCP server: the registry of tools, the choice
// of toolsets, the middleware around every call, and the results.
//
// It is the one place where an error becomes text for a model. Tools return
// *broker.Refusal for a correct no; anything else they return reaches the model
// as "internal" with an id, and its cause goes to the log.
//
// Tools are declared with the SDK's low-level AddTool: their arguments are
// decoded here from the bytes received, strictly, and they have no output
// schema, whose violation would be an error after the side effect.
package toolsets
