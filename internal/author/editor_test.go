package author

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEditorTypesAreWrittenOnce(t *testing.T) {
	dir := createPlugin(t)
	for _, name := range []string{"sdk/index.ts", "sdk/testing.ts", "zod/index.d.ts", "zod/v4/classic/schemas.d.ts", "zod/LICENSE", "vendor/linkedom/worker.d.ts"} {
		readPluginFile(t, dir, typesDir+"/"+name)
	}
	if hasChanged, err := writeEditorTypes(dir); hasChanged || err != nil {
		t.Errorf("second call of writeEditorTypes: written again = %t, error %v; want false and no error", hasChanged, err)
	}
	writePluginFile(t, dir, typesDir+"/old.ts", "of another version")
	writePluginFile(t, dir, typesFileHeader, "another version")
	if err := RefreshEditorTypes(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, typesDir, "old.ts")); !os.IsNotExist(err) {
		t.Errorf("status of a types file of another version = %v; want that RefreshEditorTypes removed the file", err)
	}
}

func TestEditorTypesNeedTheTsconfig(t *testing.T) {
	for _, tsconfig := range []string{"", `{"compilerOptions": {"strict": true}}`} {
		dir := t.TempDir()
		if tsconfig != "" {
			writePluginFile(t, dir, "tsconfig.json", tsconfig)
		}
		if err := RefreshEditorTypes(dir); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, ".opentabs")); !os.IsNotExist(err) {
			t.Errorf("with the tsconfig %q, the status of .opentabs is %v; want no types for editors", tsconfig, err)
		}
	}
}

// TestEditorTypesStayInThePlugin checks that an untrusted plugin cannot redirect the
// types for editors to another directory with a link.
func TestEditorTypesStayInThePlugin(t *testing.T) {
	dir, otherDir := createPlugin(t), t.TempDir()
	if err := os.RemoveAll(filepath.Join(dir, ".opentabs")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(otherDir, filepath.Join(dir, ".opentabs")); err != nil {
		t.Fatal(err)
	}
	if err := RefreshEditorTypes(dir); err == nil || !strings.Contains(err.Error(), "types") {
		t.Errorf("RefreshEditorTypes through a link returned the error %v; want an error that contains %q", err, "types")
	}
	if dirEntries, err := os.ReadDir(otherDir); err != nil || len(dirEntries) > 0 {
		t.Errorf("the target of the link has the files %v, error %v; want no files", dirEntries, err)
	}
}
