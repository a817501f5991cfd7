/** The error of a simulated call that the server would have rejected or stopped, with the server's error code. */
export class SimulatedCallError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
