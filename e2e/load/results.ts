/** Provides an MCP client for tools with large results. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { SystemUnderTest } from '../soak/system-under-test.ts';

export interface ResponseSummary {
  readonly bytes: number;
  readonly responseStart: string;
  readonly responseEnd: string;
  readonly durationMs: number;
}

export class LargeResultClient {
  readonly #system: SystemUnderTest;
  #session = '';
  #lastId = 0;

  constructor(system: SystemUnderTest) {
    this.#system = system;
  }

  async open(): Promise<void> {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'reader', version: '1' } };
    const { responseMessage } = await this.#send('initialize', params);
    responseMessage.resume();
    this.#session = String(responseMessage.headers['mcp-session-id']);
  }

  async call(tool: string, args: object): Promise<ResponseSummary> {
    const startMs = performance.now();
    const { responseMessage } = await this.#send('tools/call', { name: tool, arguments: args });
    let bytes = 0;
    let headText = '';
    let tailText = '';
    for await (const chunk of responseMessage) {
      if (!Buffer.isBuffer(chunk)) throw new Error('not bytes');
      bytes += chunk.length;
      if (headText.length < 2_000) headText += chunk.toString('latin1', 0, 2_000);
      tailText =
        chunk.length >= 200
          ? chunk.toString('latin1', chunk.length - 200)
          : (tailText + chunk.toString('latin1')).slice(-200);
    }
    return { bytes, responseStart: headText, responseEnd: tailText, durationMs: performance.now() - startMs };
  }

  /** callWithoutReading returns a function that closes the client's connection to the daemon. */
  async callWithoutReading(tool: string, args: object): Promise<{ disconnect(): void }> {
    const { clientRequest, responseMessage } = await this.#send('tools/call', { name: tool, arguments: args });
    responseMessage.pause();
    responseMessage.on('error', () => undefined);
    return { disconnect: () => clientRequest.destroy() };
  }

  #send(method: string, params: object): Promise<{ clientRequest: ClientRequest; responseMessage: IncomingMessage }> {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${this.#system.clientToken}`,
      ...(this.#session ? { 'mcp-session-id': this.#session } : {}),
    };
    return new Promise((resolve, reject) => {
      const clientRequest = request({
        host: '127.0.0.1',
        port: this.#system.port,
        path: '/mcp',
        method: 'POST',
        headers,
        agent: false,
      });
      clientRequest.on('error', reject);
      clientRequest.on('response', (responseMessage) => resolve({ clientRequest, responseMessage }));
      clientRequest.end(JSON.stringify({ jsonrpc: '2.0', id: ++this.#lastId, method, params }));
    });
  }
}
