// want: method tool.stop needs type ToolStopParams
package wire

type Method string

const MethodToolStop Method = "tool.stop"
