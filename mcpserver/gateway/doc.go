// Package gateway serves clients that cannot use a list of all tools. Such a client
// lists a few tools that search, describe and call all others.
//
// [Choices] chooses which clients get the short list, [Finder] searches the tools, and
// [Instructions] explains the tools to the client's model.
package gateway
