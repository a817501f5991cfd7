package dispatch

import (
	"opentabs/dispatch/activity"
	"opentabs/dispatch/events"
	"opentabs/dispatch/progress"
	"opentabs/wire"
)

// The names below belong to the parts of this package. Other packages use the names as
// names of package dispatch.
type (
	// Client identifies the client of a call.
	Client = events.Client
	// CredentialKind is the kind of credential that a client has.
	CredentialKind = events.CredentialKind
	// Requester is the client of a call as surfaces show it.
	Requester = events.Requester
	// Caller is a tool that calls another tool, and its document.
	Caller = events.Caller
	// WaitingTicket is what a suspended call waits for.
	WaitingTicket = events.WaitingTicket
	// Resolution is the user's decision about a ticket.
	Resolution = events.Resolution
	// ToolAbout is an alias of [events.ToolAbout].
	ToolAbout = events.ToolAbout
	// TicketPage is an alias of [events.TicketPage].
	TicketPage = events.TicketPage
	// Snapshot is the progress of a call at one moment.
	Snapshot = events.Snapshot
	// Progression is the status and the progress of a call.
	Progression = events.Progression
	// View is a call as lists show it.
	View = events.View
	// Moment is one step of a call.
	Moment = events.Moment
	// Event is one change of one call.
	Event = events.Event
	// EventKind is the kind of an [Event].
	EventKind = events.Kind
	// FollowOptions select the events of a follower.
	FollowOptions = events.FollowOptions
	// Follower reads the events of a dispatcher.
	Follower = events.Follower
	// Progress is one notification for an MCP client.
	Progress = progress.Notification
	// ActivityView is one activity of a call.
	ActivityView = activity.View
	// StopOutcome is the page's answer to the request to stop a run.
	StopOutcome = wire.CancelOutcome
)

// The kinds of credentials, and the prefix of the client names of the commands.
const (
	CredentialToken       = events.CredentialToken
	CredentialCommandLine = events.CredentialCommandLine
	CredentialStdio       = events.CredentialStdio
	CommandNamePrefix     = events.CommandNamePrefix
)

// The kinds of events.
const (
	EventCreated   = events.Created
	EventSuspended = events.Suspended
	EventResumed   = events.Resumed
	EventRunning   = events.Running
	EventProgress  = events.Progress
	EventActivity  = events.Activity
	EventEnded     = events.Ended
	EventStopped   = events.Stopped
)

// SnapshotSchema is the schema name in every [Snapshot].
const SnapshotSchema = events.SnapshotSchema

// AudienceUser is the audience of content for the user; all others are internal.
const AudienceUser = progress.AudienceUser
