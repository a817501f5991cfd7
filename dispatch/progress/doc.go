// Package progress turns the progress reports of a tool into notifications for an MCP client. The progress numbers in
// the notifications strictly increase, and the rate of notifications is limited. The first final report and the last
// message are never lost.
//
// # Concurrency
//
// A Sender is safe for concurrent use. The lock of a Sender guards its meter, which alone is not safe for concurrent
// use. No other lock is acquired while the lock of a Sender is held.
package progress

// AudienceUser is the audience of content for the user. Content without the audience
// AudienceUser is internal.
const AudienceUser = "user"

// Notification is one progress notification for an MCP client.
type Notification struct {
	// The field Progress strictly increases from one notification of a call to the next.
	Progress float64
	// The field Total is valid only if HasTotal is true.
	Total    float64
	HasTotal bool
	Message  string
	// StatusWord is the tool's word for what it is doing, such as "indexing".
	StatusWord string
	// Audience is the audience that the tool chose: "user" or "internal". If the tool chose
	// no audience, Audience is empty, which means "internal".
	Audience string
}

// Text contains the message and the status word of a progress report, and their audience.
type Text struct{ Message, StatusWord, Audience string }

func (t Text) isEmpty() bool { return t.Message == "" && t.StatusWord == "" }

func (t Text) isRepeatOf(earlierText Text) bool {
	return t.isEmpty() || t.Message == earlierText.Message && t.StatusWord == earlierText.StatusWord
}
