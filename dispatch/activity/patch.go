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

// maxFailures limits the search for patches that do not apply, because each one
// costs several parses of the whole content. Beyond the limit, valid patches beside
// them may be dropped too.
const maxFailures = 16

// applyPatches applies patches in order, each completely or not at all. applyPatches
// returns one error for each dropped patch.
func applyPatches(content json.RawMessage, patches []json.RawMessage) (json.RawMessage, []error) {
	var failed []error
	bad := 0
	var apply func([]json.RawMessage)
	apply = func(some []json.RawMessage) {
		next, err := applyPatch(content, joinPatches(some))
		switch {
		case err == nil:
			content = next
		case len(some) == 1 || bad >= maxFailures:
			bad++
			for range some {
				failed = append(failed, err)
			}
		default:
			apply(some[:len(some)/2])
			apply(some[len(some)/2:])
		}
	}
	apply(patches)
	return content, failed
}

// joinPatches joins patches to one, so that the content is parsed once if all of
// them apply, which is the usual case.
func joinPatches(patches []json.RawMessage) json.RawMessage {
	if len(patches) == 1 {
		return patches[0]
	}
	all := []byte{'['}
	for _, p := range patches {
		p = bytes.TrimSpace(p)
		if len(p) < 2 || p[0] != '[' {
			return nil // invalid: reported when it is applied alone
		}
		inner := bytes.TrimSpace(p[1 : len(p)-1])
		if len(inner) == 0 {
			continue
		}
		if len(all) > 1 {
			all = append(all, ',')
		}
		all = append(all, inner...)
	}
	return append(all, ']')
}

// applyPatch applies a JSON Patch (RFC 6902) to a content.
func applyPatch(content, patch json.RawMessage) (_ json.RawMessage, err error) {
	defer func() { // the library parses input from a page
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
	// The library patches only objects and arrays, so the content is wrapped.
	if err := prefixPaths(ops, "/"+wrapKey); err != nil {
		return nil, err
	}
	o := jsonpatch.NewApplyOptions()
	o.AccumulatedCopySizeLimit = wire.MaxActivityBytes
	o.SupportNegativeIndices, o.EscapeHTML = false, false
	wrapped, err := ops.ApplyWithOptions(slices.Concat([]byte(`{"`+wrapKey+`":`), content, []byte("}")), o)
	if err != nil {
		return nil, err
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(wrapped, &doc); err != nil {
		return nil, err
	}
	now, ok := doc[wrapKey]
	switch {
	case !ok:
		return nil, errors.New("the patch removes the whole content")
	case len(now) > wire.MaxActivityBytes:
		return nil, fmt.Errorf("the content would be larger than %s", humanize.Bytes(wire.MaxActivityBytes))
	}
	return now, nil
}

// wrapKey is the member that contains the content while a patch is applied.
const wrapKey = "content"

// prefixPaths prepends prefix to the paths of a patch.
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
			text, err := json.Marshal(prefix + path)
			if err != nil { // a string
				return err
			}
			moved := json.RawMessage(text)
			op[name] = &moved
		}
	}
	return nil
}
