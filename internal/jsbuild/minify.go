package jsbuild

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"opentabs/internal/bundlecode"
	"opentabs/internal/sourcemap"
)

// minifyLibraries does not change the author's modules and the comment before each module, so that a reviewer can read
// them. The source map that minifyLibraries returns covers only the code that is not minified.
func minifyLibraries(script bundledScript) (code, sourceMap []byte, err error) {
	fullMap, err := sourcemap.Parse(script.SourceMap)
	if err != nil {
		return nil, nil, err
	}
	var outBuffer bytes.Buffer
	var newLineNumbers []int
	nextLine := 0
	for _, module := range bundlecode.SplitModules(string(script.Code)) {
		lineCount := strings.Count(module.Code, "\n")
		minifiedCode, isMinified := minifyModule(module)
		for i := range lineCount {
			if isMinified {
				newLineNumbers = append(newLineNumbers, -1)
			} else {
				newLineNumbers = append(newLineNumbers, nextLine+i)
			}
		}
		outBuffer.WriteString(minifiedCode)
		nextLine += strings.Count(minifiedCode, "\n")
	}
	shiftedMap := fullMap.MoveLines(func(line int) int {
		if line < len(newLineNumbers) {
			return newLineNumbers[line]
		}
		return -1
	})
	if sourceMap, err = shiftedMap.Encode(); err != nil {
		return nil, nil, fmt.Errorf("write the source map: %w", err)
	}
	return outBuffer.Bytes(), sourceMap, nil
}

// minifyModule keeps top-level names, because other modules use these names. minifyModule returns a library unchanged
// if the library does not parse as a complete script.
func minifyModule(module bundlecode.Module) (minifiedCode string, isMinified bool) {
	comment, code, _ := strings.Cut(module.Code, "\n")
	if !module.IsLibrary || strings.TrimSpace(code) == "" {
		return module.Code, false
	}
	const directive = "\"use strict\";"
	r := api.Transform(directive+code, api.TransformOptions{
		Loader:            api.LoaderJS,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsNone,
		MinifyWhitespace:  true,
		MinifySyntax:      true,
		MinifyIdentifiers: true,
		LogLevel:          api.LogLevelSilent,
	})
	minified, isStrict := strings.CutPrefix(string(r.Code), directive)
	if len(r.Errors) > 0 || !isStrict {
		return module.Code, false
	}
	return comment + "\n" + minified, true
}
