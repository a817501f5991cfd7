package jsbuild

import (
	"errors"

	"github.com/evanw/esbuild/pkg/api"
)

// CheckScript returns an error if code is not a whole script by itself. An
// adapter runs inside a function that is written around it; one that closed
// this function would run outside of its private container.
func CheckScript(code []byte) error {
	result := api.Transform(string(code), api.TransformOptions{
		Loader: api.LoaderJS, Target: api.ESNext, Sourcefile: bundleName, LogLevel: api.LogLevelSilent,
	})
	if len(result.Errors) == 0 {
		return nil
	}
	return errors.New(fromEsbuild(result.Errors[:1])[0].String())
}
