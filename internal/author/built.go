package author

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"opentabs/internal/jsbuild"
	"opentabs/plugin"
)

// tempBuild is a build of a plugin's current source in a temporary directory.
type tempBuild struct {
	*plugin.Plugin
	sourceDir string
	outDir    string
	result    *jsbuild.BuildResult
}

// The caller of buildTemporary must call remove; if the source does not compile, the error is a *jsbuild.BuildError.
func buildTemporary(ctx context.Context, dir string, o jsbuild.Options) (b *tempBuild, removeFolder func(), err error) {
	tempDir, err := os.MkdirTemp("", "opentabs-author-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a directory to build in: %w", err)
	}
	removeFolder = func() { os.RemoveAll(tempDir) }
	if b, err = buildInto(ctx, tempDir, dir, o); err != nil {
		removeFolder()
		return nil, nil, err
	}
	return b, removeFolder, nil
}

func buildInto(ctx context.Context, tempDir, dir string, o jsbuild.Options) (*tempBuild, error) {
	b := &tempBuild{outDir: filepath.Join(tempDir, "dist")}
	o.Out = b.outDir
	var err error
	if b.result, err = jsbuild.BuildPlugin(ctx, dir, o); err != nil {
		return nil, err
	}
	b.sourceDir = b.result.Dir
	fileContent, err := os.ReadFile(filepath.Join(b.sourceDir, "package.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(tempDir, "package.json"), fileContent, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("copy package.json: %w", err)
	}
	if b.Plugin, err = plugin.Load(tempDir); err != nil {
		return nil, fmt.Errorf("load the built plugin: %w", err)
	}
	return b, nil
}
