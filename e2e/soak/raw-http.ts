/** An MCP client over Streamable HTTP without a library. */
import {
  type CallEnding,
  type ClientCallOptions,
  makeUnansweredEnding,
  parseAnswer,
  type SoakClient,
} from './soak-client.ts';

/** The MCP client opens a session with its first call, and again if the daemon has dropped the session. */
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

  async call(tool: string, args: Record<string, unknown>, callBehavior: ClientCallOptions): Promise<CallEnding> {
    let session: string;
    try {
      session = await this.#openSession();
    } catch (error) {
      return makeUnansweredEnding('transport', String(error));
    }
    if (callBehavior.stopSignal?.aborted) return makeUnansweredEnding('silent', 'stopped before the call began');
    const id = ++this.#lastId;
    const connection = new AbortController();
    this.#openConnections.add(connection);
    const stopRequest = () => {
      if (callBehavior.disconnect) connection.abort();
      else void this.#cancel(session, id);
    };
    callBehavior.stopSignal?.addEventListener('abort', stopRequest, { once: true });
    const progress: number[] = [];
    try {
      const metaFields = callBehavior.omitsProgressToken ? {} : { _meta: { progressToken: id } };
      const params = { name: tool, arguments: args, ...metaFields };
      return await this.#postCall(
        { jsonrpc: '2.0', id, method: 'tools/call', params },
        session,
        progress,
        connection.signal,
      );
    } catch (error) {
      if (connection.signal.aborted) return makeUnansweredEnding('silent', 'disconnected', progress);
      return makeUnansweredEnding('transport', describeError(error), progress);
    } finally {
      this.#openConnections.delete(connection);
      callBehavior.stopSignal?.removeEventListener('abort', stopRequest);
    }
  }

  async kill(): Promise<void> {
    for (const connection of this.#openConnections) connection.abort();
    this.#session = undefined;
  }

  async endSession(): Promise<void> {
    const session = await this.#session?.catch(() => undefined);
    this.#session = undefined;
    if (session === undefined) return;
    const headers = this.#makeHeaders(session);
    await fetch(this.#url, { method: 'DELETE', headers }).catch(() => undefined);
  }

  close(): Promise<void> {
    return this.endSession();
  }

  /** Concurrent calls of the same client share one session. */
  #openSession(): Promise<string> {
    if (!this.#session) {
      const newSession = this.#initialize();
      newSession.catch(() => {
        if (this.#session === newSession) this.#session = undefined;
      });
      this.#session = newSession;
    }
    return this.#session;
  }

  async #initialize(): Promise<string> {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: this.name, version: '1' } };
    const requestBody = JSON.stringify({ jsonrpc: '2.0', id: ++this.#lastId, method: 'initialize', params });
    const response = await fetch(this.#url, { method: 'POST', headers: this.#makeHeaders(), body: requestBody });
    const session = response.headers.get('mcp-session-id');
    await response.text();
    if (session === null) throw new Error(`initialize was answered with ${response.status}`);
    const initializedNotification = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await (
      await fetch(this.#url, { method: 'POST', headers: this.#makeHeaders(session), body: initializedNotification })
    ).text();
    return session;
  }

  async #cancel(session: string, requestId: number): Promise<void> {
    const requestBody = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: this.#makeHeaders(session),
      body: requestBody,
    }).catch(() => undefined);
    await response?.text().catch(() => undefined);
  }

  #makeHeaders(session?: string): Record<string, string> {
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${this.#token}`,
      'mcp-protocol-version': '2025-11-25',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    };
  }

  async #postCall(
    requestMessage: { id: number; [member: string]: unknown },
    session: string,
    progress: number[],
    signal: AbortSignal,
  ): Promise<CallEnding> {
    const headers = this.#makeHeaders(session);
    const response = await fetch(this.#url, { method: 'POST', headers, body: JSON.stringify(requestMessage), signal });
    if (response.status === 404) {
      this.#session = undefined;
      return makeUnansweredEnding('refused', await response.text());
    }
    if (!response.headers.get('content-type')?.includes('text/event-stream')) {
      const responseText = await response.text();
      if (responseText === '')
        return makeUnansweredEnding('silent', `an empty answer with status ${response.status}`, progress);
      return parseAnswer(JSON.parse(responseText), progress);
    }
    let callEnding: CallEnding | undefined;
    let answerCount = 0;
    for await (const eventData of readSseEvents(response)) {
      const event = Object(JSON.parse(eventData));
      if (event.method === 'notifications/progress' && callEnding === undefined)
        progress.push(Number(event.params.progress));
      else if (event.id === requestMessage.id) {
        answerCount++;
        callEnding = parseAnswer(event, progress);
      } else this.strayMessages.push(eventData.slice(0, 500));
    }
    return callEnding
      ? { ...callEnding, answerCount }
      : makeUnansweredEnding('silent', 'the stream ended without an answer', progress);
  }
}

async function* readSseEvents(response: Response): AsyncGenerator<string> {
  const textDecoder = new TextDecoder();
  let unfinishedLine: string[] = [];
  for await (const chunk of response.body ?? []) {
    const lineParts = textDecoder.decode(chunk, { stream: true }).split('\n');
    // The chunks of a large event are joined only once, so that the time is linear in the size of the event.
    for (const [i, linePart] of lineParts.entries()) {
      unfinishedLine.push(linePart);
      if (i === lineParts.length - 1) break;
      const line = unfinishedLine.join('');
      unfinishedLine = [];
      if (line.startsWith('data: ')) yield line.slice('data: '.length);
    }
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error);
}
