// want: const Idle: its value can't be computed
package wire

import "time"

const Idle = 30 * time.Second
