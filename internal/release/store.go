package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"opentabs/internal/jsbuild"
)

func (r release) writeStorePackage() error {
	files, err := jsbuild.ExtensionFiles(jsbuild.ManifestOptions{Version: r.version, IsForStore: true})
	if err != nil {
		return err
	}
	var packedFiles []archivedFile
	for _, name := range slices.Sorted(maps.Keys(files)) {
		packedFiles = append(packedFiles, archivedFile{name, files[name], 0o644})
	}
	archive, err := r.packZip(packedFiles)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.outDir, fmt.Sprintf("opentabs_%s_store.zip", r.version)), archive, 0o644)
}
