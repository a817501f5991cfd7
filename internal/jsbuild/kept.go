package jsbuild

import (
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// maxKept is how many bundles are remembered. A plugin has three at most; others
// come with each change of what package.json says of it.
const maxKept = 6

// Kept is what one build can leave for the next: files that have not changed are
// not parsed again. It is safe for concurrent use, but builds of one plugin
// should follow one another. Its zero value is ready; nil keeps nothing.
type Kept struct {
	mu       sync.Mutex // guards contexts
	contexts map[string]api.BuildContext
}

// Close frees what is kept. No build may run or come.
func (k *Kept) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop()
}

func (k *Kept) drop() {
	for _, context := range k.contexts {
		context.Dispose()
	}
	k.contexts = map[string]api.BuildContext{}
}

// build is api.Build for options that are the same whenever key is.
func (k *Kept) build(key string, o api.BuildOptions) api.BuildResult {
	if k == nil {
		return api.Build(o)
	}
	context, err := k.context(key, o)
	if err != nil {
		return api.BuildResult{Errors: err.Errors}
	}
	return context.Rebuild()
}

func (k *Kept) context(key string, o api.BuildOptions) (api.BuildContext, *api.ContextError) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if context, ok := k.contexts[key]; ok {
		return context, nil
	}
	if k.contexts == nil || len(k.contexts) == maxKept {
		k.drop()
	}
	context, err := api.Context(o)
	if err == nil {
		k.contexts[key] = context
	}
	return context, err
}
