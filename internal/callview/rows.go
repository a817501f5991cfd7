package callview

import (
	"fmt"
	"opentabs/dispatch"
	"opentabs/internal/humanize"
	"opentabs/internal/terminal"
	"opentabs/internal/waterfall"
	"opentabs/wire"
	"slices"
	"strings"
	"time"
)

// WaitingSummary counts the calls that wait for the user, as in "1 call is waiting for
// approval". If no call waits, WaitingSummary returns "".
func WaitingSummary(calls []dispatch.View) string {
	counts := map[string]int{}
	for _, v := range calls {
		if v.Waiting != nil {
			counts[WaitingText(*v.Waiting)]++
		}
	}
	var textParts []string
	for _, state := range []string{stateWaitingApproval, stateWaitingUser} {
		if n := counts[state]; n > 0 {
			textParts = append(textParts, terminal.CountWithVerb(n, "call is ", "calls are ")+state)
		}
	}
	return strings.Join(textParts, ", ")
}

// Rows returns a table of calls with one row for each call. The first row of the table has the
// column names. The column TIME LEFT exists only if a call waits for the user.
func Rows(calls []dispatch.View, verbose bool, now time.Time) [][]string {
	const timeLeftColumn = 6
	tableRows := [][]string{{"CALL", "TOOL", "STATUS", "PROGRESS", "RAN", "CLIENT", "TIME LEFT", "MESSAGE"}}
	for _, row := range treeOrder(calls) {
		tableRows = append(tableRows, callRow(row.View, row.depth, verbose, now))
	}
	if WaitingSummary(calls) == "" {
		for i := range tableRows {
			tableRows[i] = slices.Delete(tableRows[i], timeLeftColumn, timeLeftColumn+1)
		}
	}
	return tableRows
}

// In a narrow terminal, call IDs are shortened to shortIDLength characters; commands accept the beginning of an ID.
const shortIDLength = len("call_") + 8

// ShortenCells shortens cells in a table of calls for a narrow terminal, so that the status and message
// of each call stay visible. ShortenCells shortens call IDs, and removes the error code from the status
// of failed calls. ShortenCells shortens times to hours and minutes, with the month and day unless the
// date is today.
func ShortenCells(tableRows [][]string, columns int, now time.Time) {
	if columns >= minColumnsForFullCells {
		return
	}
	for i, name := range tableRows[0] {
		for _, tableRow := range tableRows[1:] {
			switch name {
			case "CALL":
				tableRow[i] = tableRow[i][:min(len(tableRow[i]), shortIDLength)]
			case "STATUS":
				tableRow[i], _, _ = strings.Cut(tableRow[i], " (")
			case "TIME":
				tableRow[i] = shortTime(tableRow[i], now)
			}
		}
	}
}

func shortTime(timestamp string, now time.Time) string {
	at, err := time.ParseInLocation(time.DateTime, timestamp, now.Location())
	switch {
	case err != nil:
		return timestamp
	case at.Format(time.DateOnly) == now.Format(time.DateOnly):
		return at.Format("15:04")
	}
	return at.Format("01-02 15:04")
}

const minColumnsForFullCells = 120

// treeRow is a call and its depth in the tree of nested calls; a call that is not nested has depth
// 0.
type treeRow struct {
	dispatch.View
	depth int
}

// treeOrder puts nested calls after their parent call, oldest first.
func treeOrder(calls []dispatch.View) []treeRow {
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
	var addCallTree func(v dispatch.View, depth int)
	addCallTree = func(v dispatch.View, depth int) {
		rows = append(rows, treeRow{v, depth})
		slices.SortStableFunc(children[v.CallID], func(a, b dispatch.View) int { return a.Created.Compare(b.Created) })
		for _, childView := range children[v.CallID] {
			addCallTree(childView, depth+1)
		}
	}
	for _, v := range calls {
		if !isListed[v.ParentCallID] {
			addCallTree(v, 0)
		}
	}
	return rows
}

func callRow(v dispatch.View, depth int, verbose bool, now time.Time) []string {
	progress, messageCell := v.Progress, WithStatusWord(v.UserStatusWord, v.UserMessage)
	if verbose {
		messageCell = WithStatusWord(v.StatusWord, v.Message)
	}
	if result := v.ShownResult(false); result != "" {
		messageCell = result
	}
	timeLeftCell := ""
	switch {
	case v.Error != "":
		messageCell = v.Error
	case v.Waiting != nil:
		timeLeftCell, messageCell = timeLeftText(*v.Waiting, now), v.Waiting.Reason
	}
	progressCell := ""
	if progress != nil {
		progressCell = terminal.FormatPercent(*progress)
	}
	return []string{
		v.CallID, strings.Repeat("  ", depth) + v.ToolName, statusText(v), progressCell, runTimeText(v), v.ToClient().String(), timeLeftCell, terminal.SafeLine(messageCell),
	}
}

// WaitingText returns the status of a call that waits for the user: "waiting for
// approval", or "waiting for you" if the tool asks the user to act in the page.
func WaitingText(w dispatch.WaitingTicket) string {
	if w.Kind == wire.TicketUser {
		return stateWaitingUser
	}
	return stateWaitingApproval
}

const (
	stateWaitingApproval = "waiting for approval"
	stateWaitingUser     = "waiting for you"
)

func timeLeftText(w dispatch.WaitingTicket, now time.Time) string {
	return terminal.Elapsed(max(0, w.ExpiresAt.Sub(now)))
}

func statusText(v dispatch.View) string {
	if v.ErrorCode == "" || string(v.ErrorCode) == string(v.Status) {
		return string(v.Status)
	}
	return fmt.Sprintf("%s (%s)", v.Status, v.ErrorCode)
}

func endText(v dispatch.View) string {
	total := runTime(v)
	if v.Ended != nil && !v.Created.IsZero() {
		total = max(total, v.Ended.Sub(v.Created))
	}
	return statusText(v) + " after " + shortDuration(total)
}

func waitTimeText(v dispatch.View) string {
	approvalWait, userWaitTime := waterfall.WaitTime(&v, v.Created)
	var statusTexts []string
	for _, wait := range []struct {
		waitTime time.Duration
		state    string
	}{{approvalWait, stateWaitingApproval}, {userWaitTime, stateWaitingUser}} {
		if wait.waitTime > 0 {
			statusTexts = append(statusTexts, shortDuration(wait.waitTime)+" "+wait.state)
		}
	}
	if len(statusTexts) == 0 {
		return ""
	}
	return ", of which " + strings.Join(statusTexts, " and ")
}

func runTimeText(v dispatch.View) string {
	if v.RunMs <= 0 {
		return ""
	}
	return shortDuration(runTime(v))
}

func shortDuration(d time.Duration) string {
	if d < 100*time.Millisecond {
		return humanize.Duration(d)
	}
	return terminal.Elapsed(d)
}

func runTime(v dispatch.View) time.Duration {
	return time.Duration(v.RunMs * float64(time.Millisecond))
}
