package dispatch

import (
	"opentabs/dispatch/activity"
	"opentabs/dispatch/events"
	"opentabs/dispatch/progress"
	"opentabs/wire"
)

// These types are aliases of types in subpackages of dispatch, so that most packages need
// to import only package dispatch.
type (
	// Client identifies the client of a call.
	Client = events.Client
	// CredentialKind is the kind of credential with which a client authenticates.
	CredentialKind = events.CredentialKind
	// Requester is the client that made a call, as surfaces show it.
	Requester = events.Requester
	// Caller is a tool that calls another tool, and the document in which the calling tool runs.
	Caller = events.Caller
	// WaitingTicket describes what a suspended call waits for.
	WaitingTicket = events.WaitingTicket
	// Resolution is the user's decision about a suspended call.
	Resolution = events.Resolution
	// ToolSummary describes a tool to the user who approves or denies a call.
	ToolSummary = events.ToolSummary
	// TicketPage is the page in which a suspended call would run after the user's approval.
	TicketPage = events.TicketPage
	// Snapshot is the progress of a call at one moment.
	Snapshot = events.Snapshot
	// Progression is the status and the progress of a call.
	Progression = events.Progression
	// View is a call at one moment, as lists show it.
	View = events.View
	// TimelineEntry is one step in the timeline of a call.
	TimelineEntry = events.TimelineEntry
	// Event is one change of a call, as subscribers receive it.
	Event = events.Event
	// EventKind is the kind of an [Event].
	EventKind = events.Kind
	// SubscribeOptions select the events that a subscriber receives.
	SubscribeOptions = events.SubscribeOptions
	// Subscriber reads the events of a dispatcher.
	Subscriber = events.Subscriber
	// Progress is the content of one progress notification to an MCP client.
	Progress = progress.Notification
	// ActivityView is one activity of a call: content that the tool shows beside its progress.
	ActivityView = activity.View
	// StopOutcome is the page's answer to a request to stop a tool.
	StopOutcome = wire.CancelOutcome
)

// These constants are the kinds of credentials with which clients authenticate, and the prefix
// of the client names of opentabs commands.
const (
	CredentialToken       = events.CredentialToken
	CredentialCommandLine = events.CredentialCommandLine
	CredentialStdio       = events.CredentialStdio
	CommandNamePrefix     = events.CommandNamePrefix
)

// These constants are the possible values of EventKind.
const (
	EventCreated   = events.KindCreated
	EventSuspended = events.KindSuspended
	EventResumed   = events.KindResumed
	EventRunning   = events.KindRunning
	EventProgress  = events.KindProgress
	EventActivity  = events.KindActivity
	EventEnded     = events.KindEnded
	EventStopped   = events.KindStopped
)

// SnapshotSchema is the schema name in every [Snapshot].
const SnapshotSchema = events.SnapshotSchema

// AudienceUser is the audience of content for the user. Content for any audience other than
// AudienceUser is internal.
const AudienceUser = progress.AudienceUser
