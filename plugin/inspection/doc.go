// Package inspection shows a plugin to a reviewer: an agent or the user.
//
// [Inspect] returns the sections of an [Inspection]: overview, tools, code, changes
// since the last review, libraries. [Tokens] prove that an agent has inspected a plugin
// before it recommends the plugin.
//
// An Inspection is immutable. Tokens.mu guards the issued tokens; no other lock is
// taken under Tokens.mu.
package inspection
