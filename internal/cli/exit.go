package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"opentabs/internal/callview"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/toolcall"
	"opentabs/internal/usererr"
	"opentabs/wire"
)

// These constants are the exit codes of all opentabs commands; see `opentabs help
// exit-codes`.
const (
	ExitOK             = 0
	ExitFailed         = 1   // the tool or opentabs failed
	ExitUsage          = 2   // a flag, an argument or a setting is invalid
	ExitNoServer       = 3   // no opentabs server is running
	exitTimedOut       = 4   // the call was ended by one of its time limits
	ExitCancelled      = 5   // the call was cancelled elsewhere, or the server stopped
	exitNoPage         = 6   // no page can run the tool, or the page was closed
	exitAlreadyDecided = 7   // the call is not waiting for approval
	exitResultLost     = 8   // the call is done, but its result is not available
	exitInterrupted    = 130 // the user pressed Ctrl-C, or the process received SIGTERM
)

var exitCodes = map[wire.ErrorCode]int{
	wire.ErrIdleTimeout:      exitTimedOut,
	wire.ErrDeadlineExceeded: exitTimedOut,
	wire.ErrApprovalTimeout:  exitTimedOut,
	wire.ErrCancelled:        ExitCancelled,
	wire.ErrShutdown:         ExitCancelled,
	wire.ErrTabClosed:        exitNoPage,
	wire.ErrNavigated:        exitNoPage,
	wire.ErrPageCrashed:      exitNoPage,
	wire.ErrTabDiscarded:     exitNoPage,
	wire.ErrTabFrozen:        exitNoPage,
	wire.ErrPageUnresponsive: exitNoPage,
	wire.ErrPluginUpdated:    exitNoPage,
	wire.ErrTabInUse:         exitNoPage,
	wire.ErrTabTaken:         exitNoPage,
	wire.ErrBrowserLost:      exitNoPage,
	wire.ErrLinkLost:         exitNoPage,
	wire.ErrNoBrowser:        exitNoPage,
	wire.ErrNoTab:            exitNoPage,
	wire.ErrAmbiguousTarget:  exitNoPage,
	wire.ErrNotReady:         exitNoPage,
	wire.ErrUnsafePage:       exitNoPage,
	wire.ErrInvalidArguments: ExitUsage,
	wire.ErrDenied:           ExitFailed,
	wire.ErrNotReviewed:      ExitFailed,
	wire.ErrNeedsSettings:    ExitFailed,
	wire.ErrPluginBroken:     ExitFailed,
	wire.ErrRateLimited:      ExitFailed,
	wire.ErrResultTooLarge:   ExitFailed,
	wire.ErrInvalidResult:    ExitFailed,
	wire.ErrToolError:        ExitFailed,
	wire.ErrUnknownTool:      ExitFailed,
	wire.ErrUnknownPrompt:    ExitFailed,
	wire.ErrNestedTooDeep:    ExitFailed,
	wire.ErrInternal:         ExitFailed,
}

// NewExitCodesCmd returns the help topic about exit codes, as a command that cannot be
// run.
func NewExitCodesCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: fmt.Sprintf(`Every opentabs command ends with one of these exit codes:

  %3d  success
  %3d  the tool failed, or opentabs did
  %3d  a flag, an argument or a setting is wrong
  %3d  no opentabs server is running
  %3d  the call was ended by one of its time limits
  %3d  the call was cancelled elsewhere, or the server stopped
  %3d  no page can run the tool, or the page was closed
  %3d  the call is not waiting for approval: it was already decided, or it ended
  %3d  the call was done for an earlier request, but its result is not available
  %3d  interrupted, by Ctrl-C or SIGTERM`,
			ExitOK, ExitFailed, ExitUsage, ExitNoServer, exitTimedOut, ExitCancelled, exitNoPage, exitAlreadyDecided, exitResultLost, exitInterrupted),
	}
}

// ExplainError returns a sentence about err for the user, and the exit code. The parameter ctx is the context of the
// failed command.
func ExplainError(ctx context.Context, err error) (string, int) {
	var callFailure *toolcall.Failure
	var decidedErr *callview.AlreadyDecidedError
	var resultLostErr *toolcall.ResultLostError
	var userErr *usererr.Error
	switch {
	case err == nil:
		return "", ExitOK
	case errors.As(err, &callFailure):
		return callFailure.Error(), max(ExitFailed, exitCodes[callFailure.Code]) // error codes of newer servers are not in exitCodes
	case errors.As(err, &decidedErr):
		return decidedErr.Error(), exitAlreadyDecided
	case errors.As(err, &resultLostErr):
		return resultLostErr.Error(), exitResultLost
	case errors.Is(err, toolcall.ErrInterrupted):
		return err.Error(), exitInterrupted
	case errors.As(err, &userErr):
		return userErr.Error(), ExitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return "interrupted", exitInterrupted
	case errors.Is(err, httpapi.ErrStreamEnded):
		return "the server has stopped; start it with `opentabs serve`", ExitNoServer
	case errors.Is(err, httpapi.ErrNoServer):
		return "no opentabs server is running; start it with `opentabs serve`", ExitNoServer
	}
	return home.ExplainError(err), ExitFailed
}
