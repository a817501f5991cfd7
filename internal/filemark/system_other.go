//go:build !linux && !darwin

package filemark

import "os"

// addSystem adds nothing: other systems have only size and modification time.
func (m *Mark) addSystem(os.FileInfo) {}
