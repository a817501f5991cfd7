package setupcmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"

	"opentabs/internal/cli"
	"opentabs/internal/home"
	"opentabs/internal/installed"
	"opentabs/internal/statefile"
)

func programCopyPath(h *home.Home, path string) string {
	return filepath.Join(h.State, "bin", filepath.Base(path))
}

// MCP clients start a copied program, because npm can clear the cache of npx at any time.
func copyNPXProgram(ctx context.Context, p *cli.Program, h *home.Home) error {
	program, err := installed.Find(ctx)
	if err != nil || program.Method != installed.NPX {
		return err
	}
	copyPath := programCopyPath(h, program.Path)
	fileContent, err := os.ReadFile(program.Path)
	if err != nil {
		return err
	}
	if copiedContent, err := os.ReadFile(copyPath); err == nil && bytes.Equal(copiedContent, fileContent) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(copyPath), 0o700); err != nil {
		return err
	}
	if err := errors.Join(statefile.Write(copyPath, fileContent), os.Chmod(copyPath, 0o700)); err != nil {
		return err
	}
	p.Out.Notef("npm may remove the program that npx runs, so clients use a copy: %s", copyPath)
	return nil
}
