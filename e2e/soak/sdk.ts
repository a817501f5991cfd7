/** Stock MCP clients, which connect again when the server has forgotten them or was restarted. */
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { connectHttp, connectStdio, type McpClient } from '../harness/client.ts';
import { type Client, type ClientKind, type Ending, unanswered, type Wish } from './ending.ts';

/** sdkHttp and sdkStdio return clients that connect with their first call. */
export function sdkHttp(name: string, port: number, token: string): Client {
  return new Stock(name, 'http-sdk', () => connectHttp(port, token));
}

export function sdkStdio(name: string, env: Readonly<Record<string, string>>): Client {
  return new Stock(name, 'stdio-sdk', () => connectStdio(env));
}

/** Link is a connected client and what ends its calls: the library lets a call hang whose stream breaks. */
interface Link {
  readonly client: McpClient;
  readonly broken: Promise<Ending>;
}

class Stock implements Client {
  readonly name: string;
  readonly kind: ClientKind;
  readonly strays: string[] = [];
  readonly #connect: () => Promise<McpClient>;
  #link: Promise<Link> | undefined;

  constructor(name: string, kind: ClientKind, connect: () => Promise<McpClient>) {
    this.name = name;
    this.kind = kind;
    this.#connect = connect;
  }

  async call(tool: string, args: Record<string, unknown>, wish: Wish): Promise<Ending> {
    const progress: number[] = [];
    let pending: Promise<Link> | undefined;
    try {
      pending = this.#linked();
      const link = await pending;
      if (wish.stop?.aborted) return unanswered('silent', 'stopped before it began');
      const called = link.client
        .call(tool, args, {
          ...(wish.stop ? { signal: wish.stop } : {}),
          ...(wish.untold ? { withoutProgress: true } : { onProgress: (seen) => progress.push(seen.progress) }),
        })
        .then(
          (out): Ending => ({
            code: out.isError ? String(out.code ?? 'error') : 'ok',
            text: out.text,
            structured: out.structured,
            progress,
            answers: 1,
          }),
        );
      return await Promise.race([called, link.broken]);
    } catch (error) {
      if (wish.stop?.aborted) return unanswered('silent', 'cancelled', progress);
      const { code, text } = read(error);
      if (code === 'refused' || code === 'transport') this.#forget(pending);
      return unanswered(code, text, progress);
    }
  }

  async kill(): Promise<void> {
    await this.close();
  }

  async endSession(): Promise<void> {
    await this.close();
  }

  async close(): Promise<void> {
    const pending = this.#link;
    this.#link = undefined;
    const link = await pending?.catch(() => undefined);
    await link?.client.close().catch(() => undefined);
  }

  #forget(link: Promise<Link> | undefined): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    link?.then(
      ({ client }) => client.close(),
      () => undefined,
    );
  }

  #linked(): Promise<Link> {
    if (!this.#link) {
      // A client that was closed tells so late, when another may have taken its place.
      const opening = this.#open(() => {
        if (this.#link === opening) this.#link = undefined;
      });
      this.#link = opening;
    }
    return this.#link;
  }

  async #open(gone: () => void): Promise<Link> {
    const client = await this.#connect();
    let snap: (why: string) => void = () => undefined;
    const broken = new Promise<Ending>((resolve) => {
      snap = (why) => resolve(unanswered('transport', why));
    });
    client.sdk.onclose = () => {
      gone();
      snap('the connection was closed');
    };
    client.sdk.onerror = (error) => {
      if (/disconnected|terminated|fetch failed|ECONNREFUSED|ECONNRESET/.test(String(error))) {
        gone();
        snap(String(error));
        void client.close().catch(() => undefined);
      }
    };
    return { client, broken };
  }
}

function read(error: unknown): { code: string; text: string } {
  const text = String(error);
  if (error instanceof McpError && error.code !== -32000) return { code: `rpc:${error.code}`, text };
  if (/HTTP 404|Session not found|no such session/i.test(text)) return { code: 'refused', text };
  return { code: 'transport', text };
}
