import type { TestContext } from 'node:test';

/** What a unit test simulates: the plugin's settings, the values of its pre-script, and the site's answers. */
export interface Platform {
  settings?: Record<string, unknown>;
  preScript?: Record<string, unknown>;
  /**
   * Returns the mocked site's answer to a request, as JSON or a Response. `answer` can throw to simulate a network
   * failure.
   */
  answer?: (request: Request) => unknown;
}

/**
 * Mocks opentabs and the page for one test. Returns lists of the plugin's requests to the site and of the items in
 * localStorage.
 */
export function mockPlatform(t: TestContext, { settings, preScript, answer: respond }: Platform) {
  const requests: Request[] = [];
  const storedItems = new Map<string, string>();
  const localStorage = {
    getItem: (key: string) => storedItems.get(key) ?? null,
    setItem: (key: string, value: string) => storedItems.set(key, value),
  };
  const globals = {
    __openTabs: { pluginConfig: settings ?? {}, _pluginName: 'tickets', preScript: { tickets: preScript ?? {} } },
    window: { localStorage },
  };
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    t.after(() => Reflect.deleteProperty(globalThis, name));
  }
  for (const method of ['debug', 'info'] as const) t.mock.method(console, method, () => undefined);
  t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit) => {
    const request = new Request(url, init);
    requests.push(request);
    const body = respond?.(request);
    return body instanceof Response ? body : Response.json(body);
  });
  return { requests, stored: storedItems };
}
