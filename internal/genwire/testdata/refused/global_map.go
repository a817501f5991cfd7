// want: type Map equals a global name of TypeScript
package wire

type Map struct{}
