/** Signal calls its listeners in the order in which they were added, like the events of chrome.*. */
export class Signal<Args extends unknown[] = []> {
  readonly #listeners: ((...args: Args) => void)[] = [];

  addListener(listener: (...args: Args) => void): void {
    this.#listeners.push(listener);
  }

  emit(...args: Args): void {
    for (const listener of this.#listeners) listener(...args);
  }
}
