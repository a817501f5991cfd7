export class FakeStorage {
  readonly #itemsByKey = new Map<string, string>();

  constructor(init: Readonly<Record<string, string>> = {}) {
    for (const [key, value] of Object.entries(init)) this.setItem(key, value);
  }

  get length(): number {
    return this.#itemsByKey.size;
  }

  key(index: number): string | null {
    return [...this.#itemsByKey.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.#itemsByKey.get(String(key)) ?? null;
  }

  setItem(key: string, value: unknown): void {
    this.#itemsByKey.set(String(key), String(value));
  }

  removeItem(key: string): void {
    this.#itemsByKey.delete(String(key));
  }

  clear(): void {
    this.#itemsByKey.clear();
  }
}
