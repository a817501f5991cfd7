// Package inspection shows a plugin to a reviewer: an agent or the user.
//
// [Inspect] returns an [Inspection] with the sections overview, tools, code, changes
// since the last review, libraries. [Tokens] prove that an agent has inspected a plugin
// before the agent recommends the plugin.
//
// An Inspection is immutable. Tokens.mu guards the issued tokens; no code locks another
// mutex while it holds Tokens.mu.
package inspection
