/** The error of a simulated call that a real server would have rejected or ended, such as `idle_timeout`. */
export class SimulatedCallError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
