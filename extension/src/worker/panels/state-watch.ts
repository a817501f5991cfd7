type StateConsumer = 'panels' | 'notifications';

/**
 * StateWatch subscribes to the server's messages state.sync and state.plugins while a part of the worker needs these
 * messages.
 */
export class StateWatch {
  readonly #consumers = new Set<StateConsumer>();
  readonly #send: (on: boolean) => void;

  constructor(send: (on: boolean) => void) {
    this.#send = send;
  }

  get isOn(): boolean {
    return this.#consumers.size > 0;
  }

  /**
   * When the first panel opens, setConsumerActive always subscribes again, because the server sends its complete state
   * only after a new subscription.
   */
  setConsumerActive(stateConsumer: StateConsumer, isActive: boolean): void {
    const wasSubscribed = this.isOn;
    if (isActive) this.#consumers.add(stateConsumer);
    else this.#consumers.delete(stateConsumer);
    if (this.isOn !== wasSubscribed || (isActive && stateConsumer === 'panels')) this.#send(this.isOn);
  }

  /** The method `resend` repeats the subscription to the server's state on a new link. */
  resend(): void {
    if (this.isOn) this.#send(true);
  }
}
