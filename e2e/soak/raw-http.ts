/**
 * An MCP client over Streamable HTTP without a library. The client receives every event, counts answers, and can
 * disconnect during a call.
 */
import { type CallBehavior, type CallEnding, makeUnanswered, parseAnswer, type SoakClient } from './soak-client.ts';

/**
 * makeRawHttpClient returns a client of the server at port. The first call opens a session. A later call opens another
 * session if the server no longer has the first.
 */
export function makeRawHttpClient(name: string, port: number, token: string): SoakClient {
  return new RawHttpClient(name, port, token);
}

class RawHttpClient implements SoakClient {
  readonly kind = 'http';
  readonly name: string;
  readonly strayMessages: string[] = [];
  readonly #url: string;
  readonly #token: string;
  readonly #openConnections = new Set<AbortController>();
  #session: Promise<string> | undefined;
  #lastId = 0;

  constructor(name: string, port: number, token: string) {
    this.name = name;
    this.#url = `http://127.0.0.1:${port}/mcp`;
    this.#token = token;
  }

  async call(tool: string, args: Record<string, unknown>, behavior: CallBehavior): Promise<CallEnding> {
    let session: string;
    try {
      session = await this.#openSession();
    } catch (error) {
      return makeUnanswered('transport', String(error));
    }
    if (behavior.stopSignal?.aborted) return makeUnanswered('silent', 'stopped before it began');
    const id = ++this.#lastId;
    const connection = new AbortController();
    this.#openConnections.add(connection);
    const stop = () => {
      if (behavior.disconnect) connection.abort();
      else void this.#cancel(session, id);
    };
    behavior.stopSignal?.addEventListener('abort', stop, { once: true });
    const progress: number[] = [];
    try {
      const meta = behavior.withoutProgress ? {} : { _meta: { progressToken: id } };
      const params = { name: tool, arguments: args, ...meta };
      return await this.#postCall(
        { jsonrpc: '2.0', id, method: 'tools/call', params },
        session,
        progress,
        connection.signal,
      );
    } catch (error) {
      if (connection.signal.aborted) return makeUnanswered('silent', 'disconnected', progress);
      return makeUnanswered('transport', describeError(error), progress);
    } finally {
      this.#openConnections.delete(connection);
      behavior.stopSignal?.removeEventListener('abort', stop);
    }
  }

  async kill(): Promise<void> {
    for (const leave of this.#openConnections) leave.abort();
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

  /** openSession returns the id of the session. Concurrent calls share one session. */
  #openSession(): Promise<string> {
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
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++this.#lastId, method: 'initialize', params });
    const answer = await fetch(this.#url, { method: 'POST', headers: this.#headers(), body });
    const session = answer.headers.get('mcp-session-id');
    await answer.text();
    if (session === null) throw new Error(`initialize was answered with ${answer.status}`);
    const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await (await fetch(this.#url, { method: 'POST', headers: this.#headers(session), body: initialized })).text();
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

  async #postCall(
    message: { id: number; [member: string]: unknown },
    session: string,
    progress: number[],
    signal: AbortSignal,
  ): Promise<CallEnding> {
    const headers = this.#headers(session);
    const answer = await fetch(this.#url, { method: 'POST', headers, body: JSON.stringify(message), signal });
    if (answer.status === 404) {
      this.#session = undefined;
      return makeUnanswered('refused', await answer.text());
    }
    if (!answer.headers.get('content-type')?.includes('text/event-stream')) {
      const text = await answer.text();
      if (text === '') return makeUnanswered('silent', `an empty answer with status ${answer.status}`, progress);
      return parseAnswer(JSON.parse(text), progress);
    }
    let ending: CallEnding | undefined;
    let answerCount = 0;
    for await (const data of readEvents(answer)) {
      const event = Object(JSON.parse(data));
      if (event.method === 'notifications/progress' && ending === undefined)
        progress.push(Number(event.params.progress));
      else if (event.id === message.id) {
        answerCount++;
        ending = parseAnswer(event, progress);
      } else this.strayMessages.push(data.slice(0, 500));
    }
    return ending
      ? { ...ending, answerCount }
      : makeUnanswered('silent', 'the stream ended without an answer', progress);
  }
}

/** readEvents yields the data of server-sent events. */
async function* readEvents(answer: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let unfinishedLine: string[] = [];
  for await (const chunk of answer.body ?? []) {
    const pieces = decoder.decode(chunk, { stream: true }).split('\n');
    // A large event arrives in many chunks. The chunks are joined only once, so that the time is linear in the size of
    // the event.
    for (const [i, piece] of pieces.entries()) {
      unfinishedLine.push(piece);
      if (i === pieces.length - 1) break;
      const line = unfinishedLine.join('');
      unfinishedLine = [];
      if (line.startsWith('data: ')) yield line.slice('data: '.length);
    }
  }
}

/** describeError returns the message of an error and of its cause. */
function describeError(error: unknown): string {
  return error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error);
}
