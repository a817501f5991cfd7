// Package statedoc reads and changes JSON files in the state folder, which several
// opentabs processes share.
//
// A [File] is changed under a lock that all processes respect. A [Watched] also keeps the
// content of its file in memory, and calls listeners after each change. [Plugins] is the
// content of a file with one JSON object per plugin. An edit of Plugins preserves JSON
// members that this version of opentabs does not use.
package statedoc
