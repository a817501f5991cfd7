package jsbuild

import (
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// maxKept is how many bundles are remembered. A plugin has three at most; others
// come with each change of what package.json says of it.
const maxKept = 6

// Kept is what one build can leave for the next: files that have not changed are
// not parsed again. It is safe for concurrent use. Its zero value is ready; nil
// keeps nothing.
type Kept struct {
	mu       sync.Mutex // guards contexts and what is in them
	contexts map[string]*keptContext
}

// keptContext is what esbuild keeps of one bundle.
type keptContext struct {
	api.BuildContext
	users int // who builds with it now
}

// Close frees what is kept. No build may run or come.
func (k *Kept) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop()
}

// drop forgets what nobody builds with.
func (k *Kept) drop() {
	for key, one := range k.contexts {
		if one.users == 0 {
			one.Dispose()
			delete(k.contexts, key)
		}
	}
}

// build is api.Build for options that are the same whenever key is.
func (k *Kept) build(key string, o api.BuildOptions) api.BuildResult {
	if k == nil {
		return api.Build(o)
	}
	one, err := k.take(key, o)
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

func (k *Kept) take(key string, o api.BuildOptions) (*keptContext, *api.ContextError) {
	k.mu.Lock()
	defer k.mu.Unlock()
	one, ok := k.contexts[key]
	if !ok {
		if len(k.contexts) >= maxKept {
			k.drop()
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
