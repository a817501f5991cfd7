package author

import (
	"fmt"

	"opentabs/plugin"
)

// checkUndos adds a finding for each undo that cannot reverse a change.
func checkUndos(b *tempBuild, report reportFunc) {
	for _, t := range b.Tools {
		undoTool := t.UndoTool()
		switch {
		case undoTool == nil:
		case t.IsReadOnly():
			report(t.Name, "the tool has readOnlyHint, so there is nothing to undo; remove the undo or the hint")
		case undoTool.IsReadOnly():
			report(t.Name, "its undo names %s, which has readOnlyHint and so changes nothing; name the tool that takes the change back", undoTool.Name)
		}
	}
}

func describeUndos(p *plugin.Plugin) []string {
	var sentences []string
	for _, t := range p.Tools {
		if t.Undo != nil {
			sentences = append(sentences, fmt.Sprintf("%s is undone by %s", t.Name, t.Undo))
		}
	}
	return sentences
}
