// Package plugincmd implements the commands of `opentabs plugin`.
package plugincmd
