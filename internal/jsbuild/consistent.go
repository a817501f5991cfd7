package jsbuild

import "encoding/json"

// entryFile is the name under which esbuild's messages refer to the generated entry
// module of a script.
const entryFile = "opentabs-entry.ts"

// maxCompileAttempts limits how often a build starts again because the plugin's files
// changed during the build.
const maxCompileAttempts = 5

// hasSameSource reports whether two scripts were bundled from the same versions of the
// files that both scripts import. If an editor writes a file between the builds of two
// scripts, the scripts contain different versions of the file.
func hasSameSource(a, b bundledScript) bool {
	return hasEqualCommonValues(a.inputSizes(), b.inputSizes()) && hasEqualCommonValues(a.sourceTexts(), b.sourceTexts())
}

func hasEqualCommonValues[V comparable](a, b map[string]V) bool {
	for key, value := range a {
		if valueB, isInBoth := b[key]; isInBoth && valueB != value {
			return false
		}
	}
	return true
}

// inputSizes includes input files that contribute no code to the bundle; a source map omits such files.
func (b bundledScript) inputSizes() map[string]int {
	var meta struct {
		Inputs map[string]struct{ Bytes int }
	}
	if err := json.Unmarshal([]byte(b.Metafile), &meta); err != nil {
		panic("jsbuild: esbuild's metafile: " + err.Error())
	}
	sizes := make(map[string]int, len(meta.Inputs))
	for path, input := range meta.Inputs {
		if path != entryFile {
			sizes[path] = input.Bytes
		}
	}
	return sizes
}

func (b bundledScript) sourceTexts() map[string]string {
	var sourceMap struct {
		Sources        []string
		SourcesContent []string
	}
	if err := json.Unmarshal(b.SourceMap, &sourceMap); err != nil {
		panic("jsbuild: esbuild's source map: " + err.Error())
	}
	sourceTexts := make(map[string]string, len(sourceMap.Sources))
	for i, path := range sourceMap.Sources {
		if i < len(sourceMap.SourcesContent) && path != "../"+entryFile {
			sourceTexts[path] = sourceMap.SourcesContent[i]
		}
	}
	return sourceTexts
}
