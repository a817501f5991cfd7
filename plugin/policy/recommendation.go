package policy

import (
	"fmt"

	"opentabs/internal/jsonread"
	"opentabs/internal/plaintext"
	"opentabs/internal/statedoc"
	"opentabs/plugin"
	"opentabs/wire"
)

// maxNoteChars is the maximum length of an agent's note, in characters. opentabs
// truncates a longer note.
const maxNoteChars = 1000

// Recommendation is an agent's opinion that a plugin can be enabled. A Recommendation
// does not enable the plugin; surfaces show the Recommendation to the user.
type Recommendation struct {
	// The field Hash is the hash of the content that the agent inspected. If the plugin's
	// content has changed since the agent's inspection, opentabs ignores the agent's
	// recommendation.
	Hash string `json:"hash"`
	// Permission is the recommended permission: "ask" or "auto".
	Permission wire.Permission `json:"permission"`
	// Note is the reason that the agent gave for its recommendation: at most 1,000
	// characters, without hidden characters.
	Note string `json:"note,omitempty"`
	ChangeOrigin
}

// Recommend stores an agent's recommendation for the plugin content with the given hash.
// Recommend changes no permission and no review, because only the user may change them. The
// argument by is the name of the client whose agent makes the recommendation.
func (p *Policy) Recommend(name, hash string, permission wire.Permission, noteText, by string) error {
	if permission != wire.PermissionAsk && permission != wire.PermissionAuto {
		return fmt.Errorf("%q can't be recommended: use ask or auto", plaintext.Shorten(string(permission)))
	}
	loadedPlugin, err := p.currentPlugins().Find(name)
	if err != nil {
		return err
	}
	if hash != loadedPlugin.ContentHash() {
		return fmt.Errorf("the plugin %s has changed since you inspected it; inspect it again", name)
	}
	policyChange := Change{Kind: "recommendation", Plugin: name, New: string(permission), Hash: hash, By: by}
	return p.changeEntry(policyChange, func(entry statedoc.Object) string {
		r := statedoc.Object{}
		r.Put("hash", hash)
		r.Put("permission", permission)
		r.Put("note", cleanNote(noteText))
		setChangeOrigin(r, by)
		entry.Put("recommended", r)
		return ""
	})
}

func cleanNote(noteText string) string { return plaintext.Line(noteText, maxNoteChars) }

func readRecommendation(f *jsonread.Reader) *Recommendation {
	entry := f.Object("recommended")
	if entry == nil {
		return nil
	}
	r := Recommendation{
		Hash: entry.OptionalText("hash"), Permission: readPermission(entry), Note: cleanNote(entry.OptionalText("note")), ChangeOrigin: readChangeOrigin(entry),
	}
	if r.Hash == "" || r.Permission == "" || r.Permission == wire.PermissionOff {
		return nil
	}
	return &r
}

// Recommended returns an agent's recommendation for the plugin's current content, or nil. A decision of the user about
// the plugin ends the recommendation.
func (p *Policy) Recommended(loadedPlugin *plugin.Plugin) *Recommendation {
	if r := p.stateOf(loadedPlugin.Name, loadedPlugin).Recommended; r != nil && r.Hash == loadedPlugin.ContentHash() {
		return r
	}
	return nil
}
