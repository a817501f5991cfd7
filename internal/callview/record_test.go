package callview

import (
	"slices"
	"testing"

	"opentabs/dispatch"
	"opentabs/internal/recorder"
)

func TestRecordLinesCountDroppedMessages(t *testing.T) {
	for droppedCount, want := range map[int]string{
		0: "", 1: "  1 earlier message was not recorded", 980: "  980 earlier messages were not recorded",
	} {
		lines := formatRecordLines(recorder.Record{LastMessages: []dispatch.ToolMessage{{Message: "m"}}, DroppedMessages: droppedCount}, true)
		i := slices.Index(lines, "messages")
		switch {
		case i < 0:
			t.Errorf("lines of the record = %q, want the line \"messages\" among them", lines)
		case want == "" && len(lines) != i+2, want != "" && lines[i+1] != want:
			t.Errorf("with %d dropped messages, the record's lines are %q, want the note %q", droppedCount, lines[i:], want)
		}
	}
}
