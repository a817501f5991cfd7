//go:build !linux && !darwin

package filemark

import "os"

// addSystemFields adds nothing: systems other than Linux and macOS have only size and
// modification time.
func (m *Mark) addSystemFields(os.FileInfo) {}
