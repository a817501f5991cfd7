package author

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"opentabs/internal/jsbuild"
	"opentabs/plugin"
)

// built is a plugin as it would be built now; nothing was written to its
// directory.
type built struct {
	*plugin.Plugin
	// source is the plugin's own directory, out that of the files that were built.
	source, out string
	report      *jsbuild.Built
}

// buildAside builds the plugin in dir into a directory of its own, which drop
// removes. The error is a *jsbuild.BuildError if the plugin is at fault.
func buildAside(ctx context.Context, dir string, o jsbuild.Options) (b *built, drop func(), err error) {
	aside, err := os.MkdirTemp("", "opentabs-author-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a directory to build in: %w", err)
	}
	drop = func() { os.RemoveAll(aside) }
	if b, err = buildIn(ctx, aside, dir, o); err != nil {
		drop()
		return nil, nil, err
	}
	return b, drop, nil
}

func buildIn(ctx context.Context, aside, dir string, o jsbuild.Options) (*built, error) {
	b := &built{out: filepath.Join(aside, "dist")}
	o.Out = b.out
	var err error
	if b.report, err = jsbuild.BuildPlugin(ctx, dir, o); err != nil {
		return nil, err
	}
	b.source = b.report.Dir
	text, err := os.ReadFile(filepath.Join(b.source, "package.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(aside, "package.json"), text, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("copy package.json: %w", err)
	}
	if b.Plugin, err = plugin.Load(aside); err != nil {
		return nil, fmt.Errorf("read what was built: %w", err)
	}
	return b, nil
}
