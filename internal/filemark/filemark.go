// Package filemark detects changed files by their attributes, such as size and
// modification time, without reading the files.
//
// Compare two values of [Fingerprint] with == to find out whether a file has changed.
package filemark

import (
	"os"
	"time"
)

// Two writes within one tick of the file system's clock leave equal times, so a recent time proves nothing. The longer
// coarseReliableAge applies to file systems that store times in whole seconds.
const (
	fineReliableAge   = 50 * time.Millisecond
	coarseReliableAge = 3 * time.Second // FAT file systems store times in steps of 2 s
)

// Fingerprint contains the attributes of a file that change when its content changes. A program can
// reset the modification time, but not the change time (ChangedNs). On Windows, ChangedNs
// is 0, so a reset modification time can hide a change.
type Fingerprint struct {
	Size       int64  `json:"size"`
	ModifiedNs int64  `json:"modifiedNs"`
	ChangedNs  int64  `json:"changedNs,omitempty"`
	Inode      uint64 `json:"inode,omitempty"`
	Device     uint64 `json:"device,omitempty"`
}

// Of returns the [Fingerprint] of the file that info describes.
func Of(fileInfo os.FileInfo) Fingerprint {
	m := Fingerprint{Size: fileInfo.Size(), ModifiedNs: fileInfo.ModTime().UnixNano()}
	m.addSystemFields(fileInfo)
	return m
}

// IsReliable reports whether the file's times are old enough that every later write
// changes the Fingerprint. If IsReliable returns false, do not use the Fingerprint to detect changes,
// because a later write could leave the Fingerprint unchanged.
func (m Fingerprint) IsReliable(now time.Time) bool {
	for _, ns := range []int64{m.ModifiedNs, m.ChangedNs} {
		age := fineReliableAge
		if ns%int64(time.Second) == 0 {
			age = coarseReliableAge
		}
		if ns != 0 && now.Sub(time.Unix(0, ns)) < age {
			return false
		}
	}
	return true
}
