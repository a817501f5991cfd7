/** WatchUser is a part of the worker that needs the calls of the server. */
type WatchUser = 'panels' | 'notifications';

/** StateWatch turns the server's messages state.sync and state.plugins on while a part of the worker needs them. */
export class StateWatch {
  readonly #users = new Set<WatchUser>();
  readonly #send: (on: boolean) => void;

  constructor(send: (on: boolean) => void) {
    this.#send = send;
  }

  get isOn(): boolean {
    return this.#users.size > 0;
  }

  /**
   * setUser adds or removes a part that needs the messages. The first panel gets the whole state, even if the messages
   * are on, because the server otherwise sends changes only.
   */
  setUser(user: WatchUser, isUsing: boolean): void {
    const wasOn = this.isOn;
    if (isUsing) this.#users.add(user);
    else this.#users.delete(user);
    if (this.isOn !== wasOn || (isUsing && user === 'panels')) this.#send(this.isOn);
  }

  /** resend turns the messages on again for a new connection. */
  resend(): void {
    if (this.isOn) this.#send(true);
  }
}
