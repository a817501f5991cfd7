// Package plugincmd implements `opentabs plugin` and its subcommands.
package plugincmd
