package author

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	sdkts "opentabs/sdk-ts"
)

const (
	// The plugin's tsconfig.json refers to typesDir, which git and the npm package leave out.
	typesDir        = ".opentabs/types"
	typesFileHeader = typesDir + "/made-of"
)

// writeEditorTypes lets editors and tsc find the types of @opentabs/sdk and zod without an installation.
func writeEditorTypes(dir string) (bool, error) {
	files, versionLine, err := renderEditorTypes()
	if err != nil {
		return false, err
	}
	// The plugin can be untrusted, so its files are written through an os.Root, which
	// follows no link out of the plugin's directory.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, fmt.Errorf("open the plugin's directory: %w", err)
	}
	defer root.Close()
	if currentVersionLine, err := root.ReadFile(typesFileHeader); err == nil && string(currentVersionLine) == versionLine {
		return false, nil
	}
	if err := root.RemoveAll(typesDir); err != nil {
		return false, fmt.Errorf("remove the previous types: %w", err)
	}
	for _, file := range append(files, scaffoldFile{typesFileHeader, []byte(versionLine)}) { // typesFileHeader is written last
		if err := root.MkdirAll(path.Dir(file.name), 0o755); err != nil {
			return false, fmt.Errorf("make a directory for types: %w", err)
		}
		if err := root.WriteFile(file.name, file.fileContent, 0o644); err != nil {
			return false, fmt.Errorf("write the types: %w", err)
		}
	}
	return true, nil
}

// RefreshEditorTypes updates the types for editors, if the plugin's tsconfig.json refers
// to them.
func RefreshEditorTypes(dir string) error {
	fileContent, err := os.ReadFile(filepath.Join(dir, "tsconfig.json"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(fileContent, []byte(typesDir)) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the plugin's tsconfig.json: %w", err)
	}
	_, err = writeEditorTypes(dir)
	return err
}

func renderEditorTypes() (files []scaffoldFile, versionLine string, err error) {
	hash := sha256.New()
	err = fs.WalkDir(sdkts.Source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		targetPath := typesPath(name)
		if targetPath == "" {
			return nil
		}
		fileContent, err := sdkts.Source.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(hash, "%s %d\n", targetPath, len(fileContent))
		hash.Write(fileContent)
		files = append(files, scaffoldFile{targetPath, fileContent})
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("read the SDK: %w", err)
	}
	return files, hex.EncodeToString(hash.Sum(nil)) + "\n", nil
}

// typesPath accepts all TypeScript files of the SDK, but only declarations and licenses of vendored packages.
func typesPath(name string) string {
	if sourceName, ok := strings.CutPrefix(name, "src/"); ok {
		return typesDir + "/sdk/" + sourceName
	}
	sourceName, vendoredPath := strings.CutPrefix(name, "vendor/")
	switch {
	case !vendoredPath || strings.HasSuffix(sourceName, ".js") || strings.HasSuffix(sourceName, ".mjs"):
		return ""
	case strings.HasPrefix(sourceName, "zod/"):
		return typesDir + "/" + sourceName
	}
	return typesDir + "/vendor/" + sourceName // the path that the SDK's files import
}
