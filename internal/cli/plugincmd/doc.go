// Package plugincmd has the commands of `opentabs plugin`.
package plugincmd
