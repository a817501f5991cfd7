//go:build !linux && !darwin

package filemark

import "os"

// addSystemFields does nothing: on systems other than Linux and macOS, a Fingerprint has only
// the size and the modification time.
func (m *Fingerprint) addSystemFields(os.FileInfo) {}
