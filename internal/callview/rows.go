package callview

import (
	"fmt"
	"opentabs/dispatch"
	"opentabs/internal/terminal"
	"opentabs/wire"
	"slices"
	"strings"
	"time"
)

// WaitingSummary returns how many calls are waiting for approval and how many are waiting for
// you, as in "1 call is waiting for approval". WaitingSummary returns "" if no call waits.
func WaitingSummary(calls []dispatch.View) string {
	counts := map[string]int{}
	for _, v := range calls {
		if v.Waiting != nil {
			counts[waitingText(*v.Waiting)]++
		}
	}
	var parts []string
	for _, state := range []string{stateApproval, stateUser} {
		if n := counts[state]; n > 0 {
			parts = append(parts, terminal.CountWithVerb(n, "call is ", "calls are ")+state)
		}
	}
	return strings.Join(parts, ", ")
}

// Rows returns the table of calls, which begins with the row of column names. The
// column WAITS FOR exists only if a call waits.
func Rows(calls []dispatch.View, verbose bool, now time.Time) [][]string {
	const waitColumn = 6
	rows := [][]string{{"CALL", "TOOL", "STATUS", "PROGRESS", "RAN", "CLIENT", "TIME LEFT", "MESSAGE"}}
	for _, row := range orderInTrees(calls) {
		rows = append(rows, callRow(row.View, row.depth, verbose, now))
	}
	if WaitingSummary(calls) == "" {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], waitColumn, waitColumn+1)
		}
	}
	return rows
}

// shortIDLength is the number of characters of a call's ID that a narrow terminal shows.
// Commands accept the beginning of an ID.
const shortIDLength = len("call_") + 8

// FitRows shortens cells in a table of calls if the terminal is too narrow for whole cells,
// so that the status and the message of each call stay visible: FitRows cuts the IDs of
// calls, leaves out the error code of a status, and leaves out the date of a time today and
// the year and the seconds of other times.
func FitRows(rows [][]string, columns int, now time.Time) {
	if columns >= minColumnsForWholeCells {
		return
	}
	for i, name := range rows[0] {
		for _, row := range rows[1:] {
			switch name {
			case "CALL":
				row[i] = row[i][:min(len(row[i]), shortIDLength)]
			case "STATUS":
				row[i], _, _ = strings.Cut(row[i], " (")
			case "TIME":
				row[i] = shortTime(row[i], now)
			}
		}
	}
}

// shortTime shortens a time in the format time.DateTime.
func shortTime(text string, now time.Time) string {
	at, err := time.ParseInLocation(time.DateTime, text, now.Location())
	switch {
	case err != nil:
		return text
	case at.Format(time.DateOnly) == now.Format(time.DateOnly):
		return at.Format("15:04")
	}
	return at.Format("01-02 15:04")
}

// minColumnsForWholeCells is the minimum number of columns of a terminal that shows whole
// IDs, times and error codes of calls.
const minColumnsForWholeCells = 120

// treeRow is a call and its depth in the tree of calls.
type treeRow struct {
	dispatch.View
	depth int
}

// orderInTrees orders calls so that each call follows the call that made it, oldest first.
func orderInTrees(calls []dispatch.View) []treeRow {
	isListed, children := map[string]bool{}, map[string][]dispatch.View{}
	for _, v := range calls {
		isListed[v.CallID] = true
	}
	for _, v := range calls {
		if isListed[v.ParentCallID] {
			children[v.ParentCallID] = append(children[v.ParentCallID], v)
		}
	}
	var rows []treeRow
	var add func(v dispatch.View, depth int)
	add = func(v dispatch.View, depth int) {
		rows = append(rows, treeRow{v, depth})
		slices.SortStableFunc(children[v.CallID], func(a, b dispatch.View) int { return a.Created.Compare(b.Created) })
		for _, child := range children[v.CallID] {
			add(child, depth+1)
		}
	}
	for _, v := range calls {
		if !isListed[v.ParentCallID] {
			add(v, 0)
		}
	}
	return rows
}

// callRow returns the cells of one call.
func callRow(v dispatch.View, depth int, verbose bool, now time.Time) []string {
	progress, messageCell := v.Progress, WithStatusWord(v.UserStatusWord, v.UserMessage)
	if verbose {
		messageCell = WithStatusWord(v.StatusWord, v.Message)
	}
	if result := v.ShownResult(false); result != "" {
		messageCell = result
	}
	waitCell := ""
	switch {
	case v.Error != "":
		messageCell = v.Error
	case v.Waiting != nil:
		waitCell, messageCell = timeLeftText(*v.Waiting, now), v.Waiting.Reason
	}
	progressCell := ""
	if progress != nil {
		progressCell = terminal.Percent(*progress)
	}
	return []string{
		v.CallID, strings.Repeat("  ", depth) + v.ToolName, statusText(v), progressCell, terminal.Elapsed(runTime(v)), v.ToClient().String(), waitCell, terminal.SafeLine(messageCell),
	}
}

// waitingText returns the status of a call that waits for the user.
func waitingText(w dispatch.WaitingTicket) string {
	if w.Kind == wire.TicketUser {
		return stateUser
	}
	return stateApproval
}

// stateApproval and stateUser are the states of calls that wait for the user.
const (
	stateApproval = "waiting for approval"
	stateUser     = "waiting for you"
)

// timeLeftText returns the time in which the user can still answer.
func timeLeftText(w dispatch.WaitingTicket, now time.Time) string {
	return terminal.Elapsed(max(0, w.ExpiresAt.Sub(now)))
}

// statusText returns the status of a call, with the error code if it failed.
func statusText(v dispatch.View) string {
	switch {
	case v.Waiting != nil:
		return waitingText(*v.Waiting)
	case v.Status == wire.StatusPending:
		return "queued"
	case v.ErrorCode == "" || string(v.ErrorCode) == string(v.Status):
		return string(v.Status)
	}
	return fmt.Sprintf("%s (%s)", v.Status, v.ErrorCode)
}

// runTime returns how long a call had run when its view was made.
func runTime(v dispatch.View) time.Duration {
	return time.Duration(v.RunMs * float64(time.Millisecond))
}
