package jsbuild

import (
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// maxCachedContexts is the number of bundles above which unused bundles are dropped. A
// plugin has at most three at a time; each change of its package.json adds others.
const maxCachedContexts = 6

// BuildCache is a cache for repeated builds, so that esbuild does not parse unchanged
// files again. BuildCache is safe for concurrent use. The zero value is ready; nil
// disables the cache.
type BuildCache struct {
	mu       sync.Mutex // guards contexts and their fields
	contexts map[string]*cachedContext
}

// cachedContext is esbuild's cache of cached bundle.
type cachedContext struct {
	api.BuildContext
	users int // running builds
}

// Close frees the cache. No build may be running or start later.
func (k *BuildCache) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropUnused()
}

// dropUnused frees the contexts without running builds. The caller has k.mu.
func (k *BuildCache) dropUnused() {
	for key, cached := range k.contexts {
		if cached.users == 0 {
			cached.Dispose()
			delete(k.contexts, key)
		}
	}
}

// build is api.Build with the cache. Equal keys must have equal options.
func (k *BuildCache) build(key string, o api.BuildOptions) api.BuildResult {
	if k == nil {
		return api.Build(o)
	}
	cached, err := k.acquire(key, o)
	if err != nil {
		return api.BuildResult{Errors: err.Errors}
	}
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		cached.users--
	}()
	return cached.Rebuild()
}

// acquire returns the context for key and adds a user. acquire creates a missing
// context.
func (k *BuildCache) acquire(key string, o api.BuildOptions) (*cachedContext, *api.ContextError) {
	k.mu.Lock()
	defer k.mu.Unlock()
	cached, ok := k.contexts[key]
	if !ok {
		if len(k.contexts) >= maxCachedContexts {
			k.dropUnused()
		}
		context, err := api.Context(o)
		if err != nil {
			return nil, err
		}
		if k.contexts == nil {
			k.contexts = map[string]*cachedContext{}
		}
		cached = &cachedContext{BuildContext: context}
		k.contexts[key] = cached
	}
	cached.users++
	return cached, nil
}
