//go:build !linux && !darwin

package filemark

import "os"

// addSystem adds nothing: systems other than Linux and macOS have only size and
// modification time.
func (m *Mark) addSystem(os.FileInfo) {}
