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
	// typesDir is where a plugin's tsconfig.json finds the types of what plugins
	// import; git and the package leave it out.
	typesDir = ".opentabs/types"
	// typesMark is the file there that says what the others were made of.
	typesMark = typesDir + "/made-of"
)

// writeEditorTypes writes what an editor or tsc has to read to know
// @opentabs/sdk and zod into the plugin's .opentabs/types, so that nothing has
// to be installed. It reports false if all that was there already.
func writeEditorTypes(dir string) (bool, error) {
	files, mark, err := editorTypes()
	if err != nil {
		return false, err
	}
	// A plugin may be a stranger's: a link in it leads nowhere else.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, fmt.Errorf("open the plugin's directory: %w", err)
	}
	defer root.Close()
	if held, err := root.ReadFile(typesMark); err == nil && string(held) == mark {
		return false, nil
	}
	if err := root.RemoveAll(typesDir); err != nil {
		return false, fmt.Errorf("remove the former types: %w", err)
	}
	for _, file := range append(files, newFile{typesMark, []byte(mark)}) { // the mark comes last
		if err := root.MkdirAll(path.Dir(file.name), 0o755); err != nil {
			return false, fmt.Errorf("make a directory for types: %w", err)
		}
		if err := root.WriteFile(file.name, file.text, 0o644); err != nil {
			return false, fmt.Errorf("write the types: %w", err)
		}
	}
	return true, nil
}

// RefreshEditorTypes is writeEditorTypes for a plugin whose tsconfig.json wants
// them, and nothing for another.
func RefreshEditorTypes(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "tsconfig.json"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(text, []byte(typesDir)) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the plugin's tsconfig.json: %w", err)
	}
	_, err = writeEditorTypes(dir)
	return err
}

// editorTypes returns the files and a name for their contents.
func editorTypes() (files []newFile, mark string, err error) {
	hash := sha256.New()
	err = fs.WalkDir(sdkts.Source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		to := typesPath(name)
		if to == "" {
			return nil
		}
		text, err := sdkts.Source.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(hash, "%s %d\n", to, len(text))
		hash.Write(text)
		files = append(files, newFile{to, text})
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("read the SDK: %w", err)
	}
	return files, hex.EncodeToString(hash.Sum(nil)) + "\n", nil
}

// typesPath is where a file of the SDK's sources goes; empty if no compiler needs
// it. The SDK is TypeScript, so its source is its types; of what it brings along
// only the declarations count, and the licenses.
func typesPath(name string) string {
	if rest, ok := strings.CutPrefix(name, "src/"); ok {
		return typesDir + "/sdk/" + rest
	}
	rest, vendored := strings.CutPrefix(name, "vendor/")
	switch {
	case !vendored || strings.HasSuffix(rest, ".js"):
		return ""
	case strings.HasPrefix(rest, "zod/"):
		return typesDir + "/" + rest
	}
	return typesDir + "/vendor/" + rest // as the SDK's files name it
}
