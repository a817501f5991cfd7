package policy

import (
	"fmt"

	"opentabs/internal/jsonread"
	"opentabs/internal/plaintext"
	"opentabs/internal/statedoc"
	"opentabs/plugin"
	"opentabs/wire"
)

// maxNoteChars is the longest stored note of an agent, in characters.
const maxNoteChars = 1000

// Recommendation is an agent's opinion that a plugin can be enabled. A Recommendation
// does not enable the plugin; surfaces show it to the user.
type Recommendation struct {
	// Hash is the hash of the inspected content. The recommendation is ignored if the
	// content of the plugin changes.
	Hash string `json:"hash"`
	// Permission is the recommended permission: ask or auto.
	Permission wire.Permission `json:"permission"`
	// Note is the agent's text: at most 1,000 characters, without hidden characters.
	Note string `json:"note,omitempty"`
	// Mark records the client that made the recommendation, and when.
	Mark
}

// Recommend stores an agent's recommendation for the content with this hash. Recommend
// changes no permission and no review, because only the user may change them. by is the
// client of the agent.
func (p *Policy) Recommend(name, hash string, permission wire.Permission, note, by string) error {
	if permission != wire.PermissionAsk && permission != wire.PermissionAuto {
		return fmt.Errorf("%q can't be recommended: use ask or auto", plaintext.Shorten(string(permission)))
	}
	loadedPlugin, err := p.set().Find(name)
	if err != nil {
		return err
	}
	if hash != loadedPlugin.ContentHash() {
		return fmt.Errorf("the plugin %s has changed since you inspected it; inspect it again", name)
	}
	change := Change{Kind: "recommendation", Plugin: name, New: string(permission), Hash: hash, By: by}
	return p.changeEntry(change, func(entry statedoc.Object) string {
		r := statedoc.Object{}
		r.Put("hash", hash)
		r.Put("permission", permission)
		r.Put("note", shownNote(note))
		setMark(r, by)
		entry.Put("recommended", r)
		return ""
	})
}

// shownNote returns an agent's note as the user sees it.
func shownNote(note string) string { return plaintext.Line(note, maxNoteChars) }

func readRecommendation(f *jsonread.Reader) *Recommendation {
	entry := f.Object("recommended")
	if entry == nil {
		return nil
	}
	r := Recommendation{
		Hash: entry.Optional("hash"), Permission: readPermission(entry), Note: shownNote(entry.Optional("note")), Mark: readMark(entry),
	}
	if r.Hash == "" || r.Permission == "" || r.Permission == wire.PermissionOff {
		return nil
	}
	return &r
}

// Recommended returns the recommendation of an agent for the current content; nil if
// there is none since the user's last decision.
func (p *Policy) Recommended(loadedPlugin *plugin.Plugin) *Recommendation {
	if r := p.stateOf(loadedPlugin.Name, loadedPlugin).Recommended; r != nil && r.Hash == loadedPlugin.ContentHash() {
		return r
	}
	return nil
}
