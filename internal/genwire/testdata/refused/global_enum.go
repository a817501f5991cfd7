// want: type Request equals a global name of TypeScript
package wire

type Request string

const RequestA Request = "a"
