// Package sizetext writes sizes for users.
package sizetext

import "fmt"

// Bytes writes a number of bytes in the largest fitting unit: 900 bytes, 64 KB,
// 1.2 MB.
func Bytes(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
