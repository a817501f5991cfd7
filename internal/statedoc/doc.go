// Package statedoc keeps JSON files in the state folder that several processes read and
// change.
//
// [File] reads and changes one file under a lock between processes. [Watched] also
// keeps the current content in memory, and calls listeners after each change. [Plugins]
// is the content of a file with one object for each plugin; unknown members are kept.
package statedoc
