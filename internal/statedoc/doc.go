// Package statedoc reads and changes JSON files in the state folder, which several
// opentabs processes share.
//
// A [File] is changed under a lock that all processes respect. A [Watched] is a File
// whose content stays in memory and whose listeners run after each change. [Plugins] is
// the content of a file with one JSON object per plugin. A change of a Plugins value
// preserves JSON members that this version of opentabs does not use.
package statedoc
