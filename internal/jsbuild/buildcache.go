package jsbuild

import (
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// maxCachedContexts is the number of cached bundles above which the cache drops unused bundles.
const maxCachedContexts = 6

// BuildCache makes repeated builds faster, because esbuild does not parse unchanged files
// again. A BuildCache is safe for concurrent use. The zero BuildCache is ready for use; a
// nil *BuildCache disables the cache.
type BuildCache struct {
	mu       sync.Mutex // the mutex guards contexts and their fields
	contexts map[string]*cachedContext
}

// cachedContext is an esbuild build context, with which esbuild can repeat the build of
// one bundle quickly.
type cachedContext struct {
	api.BuildContext
	userCount int
}

// Close frees esbuild's contexts in the cache. Call Close after the last build that uses
// the cache has ended.
func (cache *BuildCache) Close() {
	cache.mu.Lock()
	defer cache.mu.Unlock()
	cache.dropUnused()
}

// dropUnused frees each cached esbuild context that no running build uses. The caller of
// dropUnused has locked cache.mu.
func (cache *BuildCache) dropUnused() {
	for key, cached := range cache.contexts {
		if cached.userCount == 0 {
			cached.Dispose()
			delete(cache.contexts, key)
		}
	}
}

// All calls of BuildCache.build with the same cache key must pass the same build options.
func (cache *BuildCache) build(key string, o api.BuildOptions) api.BuildResult {
	if cache == nil {
		return api.Build(o)
	}
	cached, err := cache.acquireContext(key, o)
	if err != nil {
		return api.BuildResult{Errors: err.Errors}
	}
	defer func() {
		cache.mu.Lock()
		defer cache.mu.Unlock()
		cached.userCount--
	}()
	return cached.Rebuild()
}

func (cache *BuildCache) acquireContext(key string, o api.BuildOptions) (*cachedContext, *api.ContextError) {
	cache.mu.Lock()
	defer cache.mu.Unlock()
	cached, ok := cache.contexts[key]
	if !ok {
		if len(cache.contexts) >= maxCachedContexts {
			cache.dropUnused()
		}
		context, err := api.Context(o)
		if err != nil {
			return nil, err
		}
		if cache.contexts == nil {
			cache.contexts = map[string]*cachedContext{}
		}
		cached = &cachedContext{BuildContext: context}
		cache.contexts[key] = cached
	}
	cached.userCount++
	return cached, nil
}
