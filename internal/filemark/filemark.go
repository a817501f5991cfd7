// Package filemark detects changed files by their attributes, without reading them.
//
// Two values of [Mark] can be compared with ==. Package filemark has no state.
package filemark

import (
	"os"
	"time"
)

// fineSettleTime and coarseSettleTime are the ages after which a file's times are
// reliable. A file that is written twice within one tick of the file system's clock has
// the same times after both writes.
const (
	fineSettleTime   = 50 * time.Millisecond
	coarseSettleTime = 3 * time.Second // FAT file systems store times in steps of 2 s
)

// Mark is the attributes of a file. Any change of the content changes the mark: a
// program can set the modification time, but not the change time (ChangedNs). Windows
// has no change time.
type Mark struct {
	Size       int64  `json:"size"`
	ModifiedNs int64  `json:"modifiedNs"`
	ChangedNs  int64  `json:"changedNs,omitempty"`
	Inode      uint64 `json:"inode,omitempty"`
	Device     uint64 `json:"device,omitempty"`
}

// Of returns the mark of a file.
func Of(info os.FileInfo) Mark {
	m := Mark{Size: info.Size(), ModifiedNs: info.ModTime().UnixNano()}
	m.addSystemFields(info)
	return m
}

// IsSettled reports whether every later change of the file changes the mark.
func (m Mark) IsSettled(now time.Time) bool {
	for _, ns := range []int64{m.ModifiedNs, m.ChangedNs} {
		age := fineSettleTime
		if ns%int64(time.Second) == 0 {
			age = coarseSettleTime
		}
		if ns != 0 && now.Sub(time.Unix(0, ns)) < age {
			return false
		}
	}
	return true
}
