export class FakeStorage {
  readonly #items = new Map<string, string>();

  constructor(init: Readonly<Record<string, string>> = {}) {
    for (const [key, value] of Object.entries(init)) this.setItem(key, value);
  }

  get length(): number {
    return this.#items.size;
  }

  key(index: number): string | null {
    return [...this.#items.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.#items.get(String(key)) ?? null;
  }

  setItem(key: string, value: unknown): void {
    this.#items.set(String(key), String(value));
  }

  removeItem(key: string): void {
    this.#items.delete(String(key));
  }

  clear(): void {
    this.#items.clear();
  }
}
