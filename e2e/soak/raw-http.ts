/** An MCP client over Streamable HTTP without a library: it sees every byte, counts every answer, and can leave in the middle. */
import { type Client, type Ending, readAnswer, unanswered, type Wish } from './ending.ts';

/** rawHttp returns a client of the server at port. It opens its session with the first call and again whenever the server knows it no more. */
export function rawHttp(name: string, port: number, token: string): Client {
  return new RawHttp(name, port, token);
}

class RawHttp implements Client {
  readonly kind = 'http';
  readonly name: string;
  readonly strays: string[] = [];
  readonly #url: string;
  readonly #token: string;
  readonly #leaving = new Set<AbortController>();
  #session: Promise<string> | undefined;
  #ids = 0;

  constructor(name: string, port: number, token: string) {
    this.name = name;
    this.#url = `http://127.0.0.1:${port}/mcp`;
    this.#token = token;
  }

  async call(tool: string, args: Record<string, unknown>, wish: Wish): Promise<Ending> {
    let session: string;
    try {
      session = await this.#open();
    } catch (error) {
      return unanswered('transport', String(error));
    }
    if (wish.stop?.aborted) return unanswered('silent', 'stopped before it began');
    const id = ++this.#ids;
    const leave = new AbortController();
    this.#leaving.add(leave);
    const stop = () => {
      if (wish.leave) leave.abort();
      else void this.#cancel(session, id);
    };
    wish.stop?.addEventListener('abort', stop, { once: true });
    const progress: number[] = [];
    try {
      const meta = wish.untold ? {} : { _meta: { progressToken: id } };
      const params = { name: tool, arguments: args, ...meta };
      return await this.#ask({ jsonrpc: '2.0', id, method: 'tools/call', params }, session, progress, leave.signal);
    } catch (error) {
      if (leave.signal.aborted) return unanswered('silent', 'left', progress);
      return unanswered('transport', cause(error), progress);
    } finally {
      this.#leaving.delete(leave);
      wish.stop?.removeEventListener('abort', stop);
    }
  }

  async kill(): Promise<void> {
    for (const leave of this.#leaving) leave.abort();
    this.#session = undefined;
  }

  async endSession(): Promise<void> {
    const session = await this.#session?.catch(() => undefined);
    this.#session = undefined;
    if (session === undefined) return;
    const headers = this.#headers(session);
    await fetch(this.#url, { method: 'DELETE', headers }).catch(() => undefined);
  }

  close(): Promise<void> {
    return this.endSession();
  }

  /** open returns the session's id; calls that come at once share one. */
  #open(): Promise<string> {
    if (!this.#session) {
      const opening = this.#initialize();
      opening.catch(() => {
        if (this.#session === opening) this.#session = undefined;
      });
      this.#session = opening;
    }
    return this.#session;
  }

  async #initialize(): Promise<string> {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: this.name, version: '1' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++this.#ids, method: 'initialize', params });
    const answer = await fetch(this.#url, { method: 'POST', headers: this.#headers(), body });
    const session = answer.headers.get('mcp-session-id');
    await answer.text();
    if (session === null) throw new Error(`initialize was answered with ${answer.status}`);
    const done = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await (await fetch(this.#url, { method: 'POST', headers: this.#headers(session), body: done })).text();
    return session;
  }

  async #cancel(session: string, requestId: number): Promise<void> {
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    const sent = await fetch(this.#url, { method: 'POST', headers: this.#headers(session), body }).catch(
      () => undefined,
    );
    await sent?.text().catch(() => undefined);
  }

  #headers(session?: string): Record<string, string> {
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${this.#token}`,
      'mcp-protocol-version': '2025-11-25',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    };
  }

  async #ask(
    message: { id: number; [member: string]: unknown },
    session: string,
    progress: number[],
    signal: AbortSignal,
  ): Promise<Ending> {
    const headers = this.#headers(session);
    const answer = await fetch(this.#url, { method: 'POST', headers, body: JSON.stringify(message), signal });
    if (answer.status === 404) {
      this.#session = undefined;
      return unanswered('refused', await answer.text());
    }
    if (!answer.headers.get('content-type')?.includes('text/event-stream')) {
      const text = await answer.text();
      if (text === '') return unanswered('silent', `an empty answer with status ${answer.status}`, progress);
      return readAnswer(JSON.parse(text), progress);
    }
    let end: Ending | undefined;
    let answers = 0;
    for await (const data of events(answer)) {
      const event = Object(JSON.parse(data));
      if (event.method === 'notifications/progress' && end === undefined) progress.push(Number(event.params.progress));
      else if (event.id === message.id) {
        answers++;
        end = readAnswer(event, progress);
      } else this.strays.push(data.slice(0, 500));
    }
    return end ? { ...end, answers } : unanswered('silent', 'the stream ended without an answer', progress);
  }
}

/** events reads the data of server-sent events. */
async function* events(answer: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for await (const chunk of answer.body ?? []) {
    const pieces = decoder.decode(chunk, { stream: true }).split('\n');
    // A large event comes in many chunks; joining them once keeps this linear.
    for (const [i, piece] of pieces.entries()) {
      rest.push(piece);
      if (i === pieces.length - 1) break;
      const line = rest.join('');
      rest = [];
      if (line.startsWith('data: ')) yield line.slice('data: '.length);
    }
  }
}

function cause(error: unknown): string {
  return error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error);
}
