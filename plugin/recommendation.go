package plugin

import (
	"fmt"

	"opentabs/internal/plaintext"
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
		return fmt.Errorf("%q can't be recommended: use ask or auto", shortText(string(permission)))
	}
	one, err := p.plugin(name)
	if err != nil {
		return err
	}
	if hash != one.ContentHash() {
		return fmt.Errorf("the plugin %s is not what you looked at: it has changed since; look at it again", name)
	}
	change := Change{Kind: "recommendation", Plugin: name, New: string(permission), Hash: hash, By: by}
	return p.change(change, func(entry object) string {
		said := object{}
		said.put("hash", hash)
		said.put("permission", permission)
		said.put("note", shownNote(note))
		said.mark(by)
		entry.put("recommended", said)
		return ""
	})
}

// shownNote is what an agent wrote as people are shown it.
func shownNote(note string) string { return plaintext.Line(note, maxNoteChars) }

func readRecommendation(f *fields) *Recommendation {
	said := f.object("recommended")
	if said == nil {
		return nil
	}
	r := Recommendation{
		Hash: said.optional("hash"), Permission: readPermission(said), Note: shownNote(said.optional("note")), Mark: readMark(said),
	}
	if r.Hash == "" || r.Permission == "" || r.Permission == wire.PermissionOff {
		return nil
	}
	return &r
}

// Recommended returns what an agent says of the content that is there now; nil if
// none has said anything since a person decided.
func (p *Policy) Recommended(one *Plugin) *Recommendation {
	if r := p.stateOf(one.Name, one).Recommended; r != nil && r.Hash == one.ContentHash() {
		return r
	}
	return nil
}
