/** Error of a simulated call, with an error code of the server. */
export class SimulatedCallError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
