// Package gateway serves clients that cannot use a list of all tools. A client that uses
// the gateway lists only a few tools, which search, describe and call all other tools.
//
// [Choices] selects which clients receive the short list, [Finder] searches the tools,
// and [Instructions] explains the tools to the client's model.
package gateway
