// Package progress turns the reports of a tool into the notifications of an MCP client.
// Progress strictly increases, the rate is limited, and the first final report and the
// last message are never lost.
//
// [NumbersOf] validates one report, the meter queues notifications, and [Sender]
// delivers them to the client of one call.
//
// # Concurrency
//
// A Sender is safe for concurrent use: its lock guards its meter, and no other lock is
// taken under the lock of a Sender. A meter alone is not safe for concurrent use.
package progress

// AudienceUser is the audience of content for the user; every other audience is
// internal.
const AudienceUser = "user"

// Notification is one notification for an MCP client.
type Notification struct {
	// Progress strictly increases over the notifications of one call.
	Progress float64
	// Total is present if HasTotal.
	Total    float64
	HasTotal bool
	Message  string
	// StatusWord is the tool's word for its activity, such as "indexing".
	StatusWord string
	// Audience is the audience that the tool chose: "" and "internal" mean internal.
	Audience string
}

// Text is the text of a report and its audience.
type Text struct{ Message, StatusWord, Audience string }

func (t Text) isEmpty() bool { return t.Message == "" && t.StatusWord == "" }

// repeats reports whether t contains nothing that an earlier text does not contain.
func (t Text) repeats(earlier Text) bool {
	return t.isEmpty() || t.Message == earlier.Message && t.StatusWord == earlier.StatusWord
}
