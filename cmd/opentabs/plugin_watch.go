package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"opentabs/internal/author"
	"opentabs/internal/jsbuild"
	"opentabs/internal/terminal"
)

// runPluginWatch builds at once and at each change, until ctx ends.
func runPluginWatch(ctx context.Context, opts pluginBuildOptions) error {
	out := opts.program.out
	watch, err := author.NewWatch(opts.dir) // before the first build: it may change meanwhile
	if err != nil {
		return err
	}
	kept := &jsbuild.Kept{}
	defer kept.Close()
	build := func() error {
		built, err := jsbuild.BuildPlugin(ctx, opts.dir, jsbuild.Options{Kept: kept})
		if err != nil {
			printBuildFailure(ctx, out, err)
			return err
		}
		printBuild(out, built)
		return nil
	}
	if build() != nil && !isPackage(opts.dir) {
		return &failure{code: exitFailed, err: errors.New("there is nothing to wait for: name the directory of a plugin")}
	}
	if ctx.Err() == nil {
		out.Notef("waiting for changes in %s; Ctrl-C ends", opts.dir)
	}
	err = watch.Run(ctx, func(files []string) {
		out.Notef("%s changed", someFiles(files))
		_ = build() // it has said why
	})
	if ctx.Err() != nil {
		return nil // Ctrl-C is how it ends
	}
	return err
}

// isPackage reports whether a directory is that of a plugin, good or not.
func isPackage(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "package.json"))
	return err == nil
}

// printBuild prints a build in one line, and its warnings.
func printBuild(o *terminal.Output, built *jsbuild.Built) {
	for _, w := range built.Warnings {
		o.Notef("warning: %s", w)
	}
	o.PrintLine("built %s %s, %s, in %s", built.Name, terminal.SafeLine(built.Version), terminal.Plural(len(built.Tools), "tool"), terminal.Elapsed(built.Took))
}

// printBuildFailure prints why a build failed: the problems in the plugin's files if
// there are any, else the error.
func printBuildFailure(ctx context.Context, o *terminal.Output, err error) {
	var wrong *jsbuild.BuildError
	switch {
	case ctx.Err() != nil: // the command was interrupted
	case !errors.As(err, &wrong):
		o.Notef("%v", err)
	default:
		for _, p := range wrong.Problems {
			o.Notef("error: %s", p)
		}
	}
}

// someFiles names files, the first few of them.
func someFiles(files []string) string {
	const most = 3
	if len(files) > most {
		return strings.Join(files[:most], ", ") + " and " + terminal.Plural(len(files)-most, "other file")
	}
	return strings.Join(files, ", ")
}
