package policy

import (
	"fmt"
	"maps"

	"opentabs/internal/statedoc"
	"opentabs/plugin"
	"opentabs/wire"
)

// Review records the user's review of one plugin and sets its permission; see
// [ReviewAll].
func (p *Policy) Review(name, hash string, permission wire.Permission, surface string) error {
	return ReviewAll(p, []wire.ConfigReviewParams{{Plugin: name, Hash: hash, Permission: permission}}, surface)[0]
}

// acceptedReview is a review whose hash matches the current content of the plugin. The
// field index is the position of the review in the arguments of ReviewAll.
type acceptedReview struct {
	wire.ConfigReviewParams
	loadedPlugin *plugin.Plugin
	index        int
}

// ReviewAll records that the user has reviewed the content of plugins, and sets their
// permissions. ReviewAll writes all changes to permissions.json at once. The argument surface
// is the place where the user decided, such as the side panel. The result errs has one
// element for each review: nil, or the error of this review. If the review of a plugin fails,
// the plugin keeps its permissions.
//
// If the plugin's content has changed since the last review, ReviewAll also removes
// permissions: the permission "auto" of single tools, the late access, and the calls to other
// plugins. While the author develops the plugin with `opentabs plugin dev`, ReviewAll keeps
// its late access and its permissions to call other plugins. Tools whose permission is "off"
// stay off, unless the review itself sets their permission.
func ReviewAll(p *Policy, reviews []wire.ConfigReviewParams, surface string) (errs []error) {
	errs = make([]error, len(reviews))
	var acceptedReviews []acceptedReview
	for i, r := range reviews {
		loadedPlugin, err := checkReview(p, r)
		if err != nil {
			errs[i] = err
			continue
		}
		acceptedReviews = append(acceptedReviews, acceptedReview{r, loadedPlugin, i})
	}
	err := changePlugins(p, len(acceptedReviews), func(i int) (name string, editContent func(entry statedoc.Object) []Change) {
		r := acceptedReviews[i]
		return r.Plugin, func(entry statedoc.Object) []Change { return storeReview(p, entry, r, surface) }
	})
	for _, r := range acceptedReviews {
		if err != nil {
			errs[r.index] = err
			continue
		}
		if err := p.archive.StoreReviewedCopy(r.loadedPlugin); err != nil { // the next review needs a copy of the files to show a diff
			p.opts.Log.Warn().Err(err).Str("plugin", r.Plugin).Msg("the reviewed content could not be stored for the next review")
		}
	}
	return errs
}

func checkReview(p *Policy, r wire.ConfigReviewParams) (*plugin.Plugin, error) {
	if _, err := ParsePermission(string(r.Permission)); err != nil {
		return nil, err
	}
	loadedPlugin, err := p.currentPlugins().Find(r.Plugin)
	if err != nil {
		return nil, err
	}
	for _, t := range r.Tools {
		if _, err := p.currentPlugins().FindPluginWithTool(r.Plugin, t.Tool); err != nil {
			return nil, err
		}
		if t.Permission != "" {
			if _, err := ParsePermission(string(t.Permission)); err != nil {
				return nil, err
			}
		}
	}
	if r.Hash != loadedPlugin.ContentHash() {
		return nil, fmt.Errorf("the plugin %s has changed since you reviewed it: review it again, then decide", r.Plugin)
	}
	// checkReview reads the plugin's files from disk again, because the hash of the
	// loaded plugin may come from a stored index of adapters.
	if reloadedPlugin, err := plugin.Load(loadedPlugin.Dir); err != nil || reloadedPlugin.ContentHash() != r.Hash {
		loadedPlugin.RequestReload()
		return nil, fmt.Errorf("the plugin %s has changed on disk since you reviewed it: review it again, then decide", r.Plugin)
	}
	return loadedPlugin, nil
}

func storeReview(p *Policy, entry statedoc.Object, r acceptedReview, surface string) []Change {
	review := entry.Child("reviewed")
	var oldHash string
	statedoc.DecodeInto(review["hash"], &oldHash)
	review.Put("hash", r.Hash)
	review.Put("version", r.loadedPlugin.Version)
	review.Put("dir", r.loadedPlugin.Dir)
	setChangeOrigin(review, surface)
	entry.Put("reviewed", review)
	delete(entry, "recommended")
	if oldHash != r.Hash {
		entry.Put("tools", removeAutoPermissions(entry.Child("tools")))
		if !p.opts.isInDevelopment(r.loadedPlugin) {
			delete(entry, "calls")
			delete(entry, "lateAccess")
		}
	}
	oldPermission := setPermission(entry, r.Permission, surface)
	changes := []Change{{Kind: "review", Plugin: r.Plugin, Old: oldPermission, New: string(r.Permission), Hash: r.Hash, By: surface}}
	for _, t := range r.Tools {
		oldPermission := setToolPermission(entry, t.Tool, t.Permission, surface)
		if oldPermission != string(t.Permission) {
			changes = append(changes, Change{Kind: "permission", Plugin: r.Plugin, Tool: t.Tool, Old: oldPermission, New: string(t.Permission), By: surface})
		}
	}
	return changes
}

// DisableAll turns plugins off: their tools cannot run, and pages receive none of their
// code. DisableAll writes all changes to permissions.json at once. DisableAll keeps the
// reviews, limits and settings of the plugins. The result errs contains, for each plugin
// in names, an error or nil at the same index.
func DisableAll(p *Policy, names []string, surface string) (errs []error) {
	errs = make([]error, len(names))
	var storedReviewIndexes []int
	for i, name := range names {
		if _, errs[i] = p.currentPlugins().Find(name); errs[i] == nil {
			storedReviewIndexes = append(storedReviewIndexes, i)
		}
	}
	err := changePlugins(p, len(storedReviewIndexes), func(i int) (name string, editContent func(entry statedoc.Object) []Change) {
		name = names[storedReviewIndexes[i]]
		return name, func(entry statedoc.Object) []Change { return disableEntry(entry, name, surface) }
	})
	for _, i := range storedReviewIndexes {
		errs[i] = err
	}
	return errs
}

func disableEntry(entry statedoc.Object, name, surface string) []Change {
	var changes []Change
	for tool := range maps.Clone(entry.Child("tools")) {
		var permission wire.Permission
		statedoc.DecodeInto(entry.Child("tools").Child(tool)["permission"], &permission)
		if permission == "" || permission == wire.PermissionOff {
			continue
		}
		setToolPermission(entry, tool, "", surface)
		changes = append(changes, Change{Kind: "permission", Plugin: name, Tool: tool, Old: string(permission), By: surface})
	}
	oldPermission := setPluginPermission(entry, wire.PermissionOff, surface)
	return append(changes, Change{Kind: "permission", Plugin: name, Old: oldPermission, New: string(wire.PermissionOff), By: surface})
}

// After writing permissions.json, changePlugins ends the grants of all n plugins, records the changes, and notifies the
// listeners once.
func changePlugins(p *Policy, n int, entryAt func(i int) (name string, editContent func(entry statedoc.Object) []Change)) error {
	if n == 0 {
		return nil
	}
	var changes []Change
	err := p.file.Change(func(document *statedoc.Plugins) error {
		for i := range n {
			name, editContent := entryAt(i)
			document.EditPlugin(name, func(entry statedoc.Object) { changes = append(changes, editContent(entry)...) })
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range n {
		name, _ := entryAt(i)
		p.grants.drop(name, "")
	}
	for _, c := range changes {
		p.opts.RecordChange(c)
	}
	p.file.NotifyListeners()
	return nil
}
