/** An MCP client over the standard input and output of `opentabs mcp`, without a library. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { opentabsBinary } from '../harness/process.ts';
import {
  type CallEnding,
  type ClientCallOptions,
  makeUnansweredEnding,
  parseAnswer,
  type SoakClient,
} from './soak-client.ts';

interface OpenRequest {
  readonly progress: number[];
  end(ending: CallEnding): void;
}

/** The daemon need not send a response to a request that the client has cancelled. */
const killGraceMs = 3_000;
/**
 * cancelledMessageWindowMs is how long after a request's cancellation a message about the request may arrive, in
 * milliseconds.
 */
const cancelledMessageWindowMs = 15_000;

export function makeRawStdioClient(name: string, env: Readonly<Record<string, string>>): SoakClient {
  return new RawStdioClient(name, env);
}

class RawStdioClient implements SoakClient {
  readonly kind = 'stdio';
  readonly name: string;
  readonly strayMessages: string[] = [];
  readonly #env: Readonly<Record<string, string>>;
  readonly #openRequests = new Map<number, OpenRequest>();
  /** A late cancellation may reach the daemon after the daemon has sent the response. */
  readonly #cancelledAtMs = new Map<number, number>();
  #relay: ChildProcess | undefined;
  #lastId = 0;

  constructor(name: string, env: Readonly<Record<string, string>>) {
    this.name = name;
    this.#env = env;
  }

  async call(tool: string, args: Record<string, unknown>, callBehavior: ClientCallOptions): Promise<CallEnding> {
    const relayProcess = this.#getRelay();
    const id = ++this.#lastId;
    const progress: number[] = [];
    const metaFields = callBehavior.omitsProgressToken ? {} : { _meta: { progressToken: id } };
    const params = { name: tool, arguments: args, ...metaFields };
    const endingPromise = new Promise<CallEnding>((endRequest) =>
      this.#openRequests.set(id, { progress, end: endRequest }),
    );
    this.#send(relayProcess, { jsonrpc: '2.0', id, method: 'tools/call', params });
    const stopRequest = () => {
      this.#cancelledAtMs.set(id, performance.now());
      this.#send(relayProcess, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      setTimeout(() => this.#endRequest(id, makeUnansweredEnding('silent', 'cancelled', progress)), killGraceMs);
    };
    if (callBehavior.stopSignal?.aborted) stopRequest();
    callBehavior.stopSignal?.addEventListener('abort', stopRequest, { once: true });
    const ending = await endingPromise;
    callBehavior.stopSignal?.removeEventListener('abort', stopRequest);
    return ending;
  }

  async kill(): Promise<void> {
    const relayProcess = this.#relay;
    this.#relay = undefined;
    if (relayProcess && isRunning(relayProcess)) {
      relayProcess.kill('SIGKILL');
      await once(relayProcess, 'close');
    }
    for (const id of [...this.#openRequests.keys()])
      this.#endRequest(id, makeUnansweredEnding('silent', 'the client was killed'));
  }

  endSession(): Promise<void> {
    return this.close();
  }

  async close(): Promise<void> {
    const relayProcess = this.#relay;
    this.#relay = undefined;
    if (relayProcess && isRunning(relayProcess)) {
      relayProcess.stdin?.end();
      await once(relayProcess, 'close');
    }
    for (const id of [...this.#openRequests.keys()])
      this.#endRequest(id, makeUnansweredEnding('silent', 'the client has disconnected'));
  }

  #mayCrossCancellation(id: number): boolean {
    const cancelledAtMs = this.#cancelledAtMs.get(id);
    return cancelledAtMs !== undefined && performance.now() - cancelledAtMs < cancelledMessageWindowMs;
  }

  #endRequest(id: number, ending: CallEnding): void {
    this.#openRequests.get(id)?.end(ending);
    this.#openRequests.delete(id);
  }

  #getRelay(): ChildProcess {
    if (this.#relay) return this.#relay;
    const relayProcess = spawn(opentabsBinary, ['mcp'], {
      env: { ...process.env, ...this.#env },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    relayProcess.stdin?.on('error', () => undefined); // after an error, the stream also emits close
    let unfinishedLine: string[] = [];
    relayProcess.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lineParts = chunk.split('\n');
      for (const [i, linePart] of lineParts.entries()) {
        unfinishedLine.push(linePart);
        if (i === lineParts.length - 1) break;
        this.#handleLine(unfinishedLine.join(''));
        unfinishedLine = [];
      }
    });
    relayProcess.on('close', (code) => {
      if (this.#relay !== relayProcess) return;
      this.#relay = undefined;
      for (const id of [...this.#openRequests.keys()])
        this.#endRequest(id, makeUnansweredEnding('transport', `opentabs mcp ended with ${code}`));
    });
    this.#relay = relayProcess;
    const clientInfo = { name: this.name, version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    this.#send(relayProcess, { jsonrpc: '2.0', id: ++this.#lastId, method: 'initialize', params });
    this.#send(relayProcess, { jsonrpc: '2.0', method: 'notifications/initialized' });
    return relayProcess;
  }

  #send(relayProcess: ChildProcess, relayMessage: object): void {
    relayProcess.stdin?.write(`${JSON.stringify(relayMessage)}\n`);
  }

  #handleLine(messageLine: string): void {
    const relayMessage = Object(JSON.parse(messageLine));
    if (relayMessage.method === 'notifications/progress') {
      const openRequest = this.#openRequests.get(Number(relayMessage.params.progressToken));
      if (openRequest) openRequest.progress.push(Number(relayMessage.params.progress));
      else if (!this.#mayCrossCancellation(Number(relayMessage.params.progressToken)))
        this.strayMessages.push(messageLine.slice(0, 500));
      return;
    }
    if (typeof relayMessage.method === 'string' || relayMessage.result?.serverInfo) return;
    const id = Number(relayMessage.id);
    const openRequest = this.#openRequests.get(id);
    if (openRequest) this.#endRequest(id, parseAnswer(relayMessage, openRequest.progress));
    else if (!this.#mayCrossCancellation(id)) this.strayMessages.push(messageLine.slice(0, 500));
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}
