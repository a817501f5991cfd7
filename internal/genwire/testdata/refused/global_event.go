// want: type Event equals a global name of TypeScript
package wire

type Event struct{}
