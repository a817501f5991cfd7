package jsbuild

import (
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// maxKept is the number of bundles above which unused ones are dropped. A plugin has
// at most three at a time; each change of its package.json adds others.
const maxKept = 6

// Kept is a cache for repeated builds, so that esbuild does not parse unchanged files
// again. It is safe for concurrent use. The zero value is ready; nil disables the cache.
type Kept struct {
	mu       sync.Mutex // guards contexts and their fields
	contexts map[string]*keptContext
}

// keptContext is esbuild's cache of one bundle.
type keptContext struct {
	api.BuildContext
	users int // running builds
}

// Close frees the cache. No build may be running or start later.
func (k *Kept) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropUnused()
}

// dropUnused frees the contexts without running builds. The caller has k.mu.
func (k *Kept) dropUnused() {
	for key, one := range k.contexts {
		if one.users == 0 {
			one.Dispose()
			delete(k.contexts, key)
		}
	}
}

// build is api.Build with the cache. Equal keys must have equal options.
func (k *Kept) build(key string, o api.BuildOptions) api.BuildResult {
	if k == nil {
		return api.Build(o)
	}
	one, err := k.acquire(key, o)
	if err != nil {
		return api.BuildResult{Errors: err.Errors}
	}
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		one.users--
	}()
	return one.Rebuild()
}

// acquire returns the context for key and adds a user. It creates a missing context.
func (k *Kept) acquire(key string, o api.BuildOptions) (*keptContext, *api.ContextError) {
	k.mu.Lock()
	defer k.mu.Unlock()
	one, ok := k.contexts[key]
	if !ok {
		if len(k.contexts) >= maxKept {
			k.dropUnused()
		}
		context, err := api.Context(o)
		if err != nil {
			return nil, err
		}
		if k.contexts == nil {
			k.contexts = map[string]*keptContext{}
		}
		one = &keptContext{BuildContext: context}
		k.contexts[key] = one
	}
	one.users++
	return one, nil
}
