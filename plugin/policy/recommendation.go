package policy

import (
	"fmt"

	"opentabs/internal/jsonread"
	"opentabs/internal/plaintext"
	"opentabs/internal/statedoc"
	"opentabs/plugin"
	"opentabs/wire"
)

// maxNoteChars is how much of what an agent writes about a plugin is kept.
const maxNoteChars = 1000

// Recommendation is an agent's opinion of a plugin: that it has looked at it and
// would let it in. It changes nothing but what people are shown.
type Recommendation struct {
	// Hash is that of the content which the agent looked at; of another one it
	// says nothing.
	Hash string `json:"hash"`
	// Permission is what the agent would set: ask or auto.
	Permission wire.Permission `json:"permission"`
	// Note is what it wrote, at most 1,000 characters, without what is not shown.
	Note string `json:"note,omitempty"`
	// Mark is which client, and when.
	Mark
}

// Recommend keeps an agent's opinion of the content that has this hash. It changes
// no permission and no review: only a person does that. by names the client.
func (p *Policy) Recommend(name, hash string, permission wire.Permission, note, by string) error {
	if permission != wire.PermissionAsk && permission != wire.PermissionAuto {
		return fmt.Errorf("%q can't be recommended: use ask or auto", plaintext.Shorten(string(permission)))
	}
	one, err := p.set().Find(name)
	if err != nil {
		return err
	}
	if hash != one.ContentHash() {
		return fmt.Errorf("the plugin %s is not what you looked at: it has changed since; look at it again", name)
	}
	change := Change{Kind: "recommendation", Plugin: name, New: string(permission), Hash: hash, By: by}
	return p.change(change, func(entry statedoc.Object) string {
		said := statedoc.Object{}
		said.Put("hash", hash)
		said.Put("permission", permission)
		said.Put("note", shownNote(note))
		setMark(said, by)
		entry.Put("recommended", said)
		return ""
	})
}

// shownNote is what an agent wrote as people are shown it.
func shownNote(note string) string { return plaintext.Line(note, maxNoteChars) }

func readRecommendation(f *jsonread.Reader) *Recommendation {
	said := f.Object("recommended")
	if said == nil {
		return nil
	}
	r := Recommendation{
		Hash: said.Optional("hash"), Permission: readPermission(said), Note: shownNote(said.Optional("note")), Mark: readMark(said),
	}
	if r.Hash == "" || r.Permission == "" || r.Permission == wire.PermissionOff {
		return nil
	}
	return &r
}

// Recommended returns what an agent says of the content that is there now; nil if
// none has said anything since a person decided.
func (p *Policy) Recommended(one *plugin.Plugin) *Recommendation {
	if r := p.stateOf(one.Name, one).Recommended; r != nil && r.Hash == one.ContentHash() {
		return r
	}
	return nil
}
