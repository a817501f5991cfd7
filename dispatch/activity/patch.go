package activity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"opentabs/internal/humanize"
	"opentabs/wire"
)

// maxFailedPatches limits the search for patches that do not apply, because each search for one patch parses the
// content several times.
const maxFailedPatches = 16

// applyPatches applies each patch completely or not at all. applyPatches returns the new content, and one error for
// each dropped patch.
func applyPatches(content json.RawMessage, patches []json.RawMessage) (json.RawMessage, []error) {
	var patchErrors []error
	failureCount := 0
	var applyRange func([]json.RawMessage)
	applyRange = func(patchRange []json.RawMessage) {
		patchedContent, err := applyPatch(content, joinPatches(patchRange))
		switch {
		case err == nil:
			content = patchedContent
		case len(patchRange) == 1 || failureCount >= maxFailedPatches:
			failureCount++
			for range patchRange {
				patchErrors = append(patchErrors, err)
			}
		default:
			applyRange(patchRange[:len(patchRange)/2])
			applyRange(patchRange[len(patchRange)/2:])
		}
	}
	applyRange(patches)
	return content, patchErrors
}

// Joining the patches saves time, because applying each patch separately would parse the content each time.
func joinPatches(patches []json.RawMessage) json.RawMessage {
	if len(patches) == 1 {
		return patches[0]
	}
	joinedPatches := []byte{'['}
	for _, p := range patches {
		p = bytes.TrimSpace(p)
		if len(p) < 2 || p[0] != '[' {
			return nil
		}
		operations := bytes.TrimSpace(p[1 : len(p)-1])
		if len(operations) == 0 {
			continue
		}
		if len(joinedPatches) > 1 {
			joinedPatches = append(joinedPatches, ',')
		}
		joinedPatches = append(joinedPatches, operations...)
	}
	return append(joinedPatches, ']')
}

func applyPatch(content, patch json.RawMessage) (_ json.RawMessage, err error) {
	defer func() { // a patch comes from a page, so a panic in the patch library must not crash opentabs
		if v := recover(); v != nil {
			err = fmt.Errorf("the patch can't be applied: %v", v)
		}
	}()
	if content == nil {
		return nil, errors.New("the activity has no content to patch; report its content first")
	}
	ops, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, fmt.Errorf("it is not a JSON Patch: %w", err)
	}
	// The patch library accepts only objects and arrays at the top level, so applyPatch
	// wraps the activity's content in an object.
	if err := prefixPaths(ops, "/"+wrapperKey); err != nil {
		return nil, err
	}
	o := jsonpatch.NewApplyOptions()
	o.AccumulatedCopySizeLimit = wire.MaxActivityBytes
	o.SupportNegativeIndices, o.EscapeHTML = false, false
	wrappedContent, err := ops.ApplyWithOptions(slices.Concat([]byte(`{"`+wrapperKey+`":`), content, []byte("}")), o)
	if err != nil {
		return nil, err
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(wrappedContent, &doc); err != nil {
		return nil, err
	}
	newContent, ok := doc[wrapperKey]
	switch {
	case !ok:
		return nil, errors.New("the patch removes the whole content")
	case len(newContent) > wire.MaxActivityBytes:
		return nil, fmt.Errorf("the content would be larger than %s", humanize.Bytes(wire.MaxActivityBytes))
	}
	return newContent, nil
}

const wrapperKey = "content"

func prefixPaths(ops jsonpatch.Patch, prefix string) error {
	for _, op := range ops {
		for _, name := range []string{"path", "from"} {
			raw := op[name]
			if raw == nil {
				continue
			}
			var path string
			if err := json.Unmarshal(*raw, &path); err != nil || path != "" && path[0] != '/' {
				return fmt.Errorf("%s %s is not a JSON Pointer", name, *raw)
			}
			operationJSON, err := json.Marshal(prefix + path)
			if err != nil { // json.Marshal can't fail for a string
				return err
			}
			prefixedOperation := json.RawMessage(operationJSON)
			op[name] = &prefixedOperation
		}
	}
	return nil
}
