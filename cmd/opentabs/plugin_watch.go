package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"opentabs/internal/author"
	"opentabs/internal/jsbuild"
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
			out.buildFailed(ctx, err)
			return err
		}
		out.builtAgain(built)
		return nil
	}
	if build() != nil && !isPackage(opts.dir) {
		return &failure{code: exitFailed, err: errors.New("there is nothing to wait for: name the directory of a plugin")}
	}
	if ctx.Err() == nil {
		out.say("waiting for changes in %s; Ctrl-C ends", opts.dir)
	}
	err = watch.Run(ctx, func(files []string) {
		out.say("%s changed", someFiles(files))
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

// builtAgain tells of a build in one line, and of what is odd.
func (o *output) builtAgain(built *jsbuild.Built) {
	for _, w := range built.Warnings {
		o.say("warning: %s", w)
	}
	o.line("built %s %s, %s, in %s", built.Name, oneLine(built.Version), plural(len(built.Tools), "tool"), spell(built.Took))
}

// buildFailed tells why there is no new build. Of an error that says more than
// its problems only those are told, each with its place in front.
func (o *output) buildFailed(ctx context.Context, err error) {
	var wrong *jsbuild.BuildError
	switch {
	case ctx.Err() != nil: // it was to end
	case !errors.As(err, &wrong):
		o.say("%v", err)
	default:
		for _, p := range wrong.Problems {
			o.say("error: %s", p)
		}
	}
}

// someFiles names files, the first few of them.
func someFiles(files []string) string {
	const most = 3
	if len(files) > most {
		return strings.Join(files[:most], ", ") + " and " + plural(len(files)-most, "other file")
	}
	return strings.Join(files, ", ")
}
