/** Clients that call tools with large results, and either count the received bytes without storing them, or do not read at all. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { World } from '../soak/world.ts';

/** Came describes a response: its length, beginning and end. */
export interface Came {
  readonly bytes: number;
  readonly head: string;
  readonly tail: string;
  readonly ms: number;
}

/** Caller calls tools in a separate session. */
export class Caller {
  readonly #world: World;
  #session = '';
  #ids = 0;

  constructor(world: World) {
    this.#world = world;
  }

  async open(): Promise<void> {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'reader', version: '1' } };
    const { message } = await this.#send('initialize', params);
    message.resume();
    this.#session = String(message.headers['mcp-session-id']);
  }

  /** call reads the complete response. */
  async call(tool: string, args: object): Promise<Came> {
    const begun = performance.now();
    const { message } = await this.#send('tools/call', { name: tool, arguments: args });
    let bytes = 0;
    let head = '';
    let tail = '';
    for await (const chunk of message) {
      if (!Buffer.isBuffer(chunk)) throw new Error('not bytes');
      bytes += chunk.length;
      if (head.length < 2_000) head += chunk.toString('latin1', 0, 2_000);
      tail =
        chunk.length >= 200
          ? chunk.toString('latin1', chunk.length - 200)
          : (tail + chunk.toString('latin1')).slice(-200);
    }
    return { bytes, head, tail, ms: performance.now() - begun };
  }

  /** hold makes a call and reads nothing of its answer; leave ends the connection. */
  async hold(tool: string, args: object): Promise<{ leave(): void }> {
    const { sent, message } = await this.#send('tools/call', { name: tool, arguments: args });
    message.pause();
    message.on('error', () => undefined);
    return { leave: () => sent.destroy() };
  }

  #send(method: string, params: object): Promise<{ sent: ClientRequest; message: IncomingMessage }> {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${this.#world.clientToken}`,
      ...(this.#session ? { 'mcp-session-id': this.#session } : {}),
    };
    return new Promise((resolve, reject) => {
      const sent = request({
        host: '127.0.0.1',
        port: this.#world.port,
        path: '/mcp',
        method: 'POST',
        headers,
        agent: false,
      });
      sent.on('error', reject);
      sent.on('response', (message) => resolve({ sent, message }));
      sent.end(JSON.stringify({ jsonrpc: '2.0', id: ++this.#ids, method, params }));
    });
  }
}
