/** An MCP client on the standard streams of `opentabs mcp`, without a library. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { binary } from '../harness/process.ts';
import { type Client, type Ending, readAnswer, unanswered, type Wish } from './ending.ts';

interface Open {
  readonly progress: number[];
  end(ending: Ending): void;
}

/** graceMs is how long an answer may still be on its way when a client has cancelled: the server owes none. */
const graceMs = 3_000;
/** crossMs is how long an answer and its cancel may be on their ways. */
const crossMs = 15_000;

/** rawStdio returns a client that starts its own `opentabs mcp` with the first call. */
export function rawStdio(name: string, env: Readonly<Record<string, string>>): Client {
  return new RawStdio(name, env);
}

class RawStdio implements Client {
  readonly kind = 'stdio';
  readonly name: string;
  readonly strays: string[] = [];
  readonly #env: Readonly<Record<string, string>>;
  readonly #open = new Map<number, Open>();
  /** When each request was cancelled; the server may have answered it before it heard of that. */
  readonly #cancelled = new Map<number, number>();
  #relay: ChildProcess | undefined;
  #ids = 0;

  constructor(name: string, env: Readonly<Record<string, string>>) {
    this.name = name;
    this.#env = env;
  }

  async call(tool: string, args: Record<string, unknown>, wish: Wish): Promise<Ending> {
    const relay = this.#started();
    const id = ++this.#ids;
    const progress: number[] = [];
    const meta = wish.untold ? {} : { _meta: { progressToken: id } };
    const params = { name: tool, arguments: args, ...meta };
    const ended = new Promise<Ending>((end) => this.#open.set(id, { progress, end }));
    this.#send(relay, { jsonrpc: '2.0', id, method: 'tools/call', params });
    const stop = () => {
      this.#cancelled.set(id, performance.now());
      this.#send(relay, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      setTimeout(() => this.#end(id, unanswered('silent', 'cancelled', progress)), graceMs);
    };
    if (wish.stop?.aborted) stop();
    wish.stop?.addEventListener('abort', stop, { once: true });
    const ending = await ended;
    wish.stop?.removeEventListener('abort', stop);
    return ending;
  }

  async kill(): Promise<void> {
    const relay = this.#relay;
    this.#relay = undefined;
    if (relay && running(relay)) {
      relay.kill('SIGKILL');
      await once(relay, 'close');
    }
    for (const id of [...this.#open.keys()]) this.#end(id, unanswered('silent', 'the client was killed'));
  }

  endSession(): Promise<void> {
    return this.close();
  }

  async close(): Promise<void> {
    const relay = this.#relay;
    this.#relay = undefined;
    if (relay && running(relay)) {
      relay.stdin?.end();
      await once(relay, 'close');
    }
    for (const id of [...this.#open.keys()]) this.#end(id, unanswered('silent', 'the client has left'));
  }

  /** crossed tells whether something about a request may have met its cancel on the way. */
  #crossed(id: number): boolean {
    const at = this.#cancelled.get(id);
    return at !== undefined && performance.now() - at < crossMs;
  }

  #end(id: number, ending: Ending): void {
    this.#open.get(id)?.end(ending);
    this.#open.delete(id);
  }

  #started(): ChildProcess {
    if (this.#relay) return this.#relay;
    const relay = spawn(binary, ['mcp'], { env: { ...process.env, ...this.#env }, stdio: ['pipe', 'pipe', 'ignore'] });
    relay.stdin?.on('error', () => undefined); // close follows
    let rest: string[] = [];
    relay.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const pieces = chunk.split('\n');
      for (const [i, piece] of pieces.entries()) {
        rest.push(piece);
        if (i === pieces.length - 1) break;
        this.#take(rest.join(''));
        rest = [];
      }
    });
    relay.on('close', (code) => {
      if (this.#relay !== relay) return;
      this.#relay = undefined;
      for (const id of [...this.#open.keys()])
        this.#end(id, unanswered('transport', `opentabs mcp ended with ${code}`));
    });
    this.#relay = relay;
    const clientInfo = { name: this.name, version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    this.#send(relay, { jsonrpc: '2.0', id: ++this.#ids, method: 'initialize', params });
    this.#send(relay, { jsonrpc: '2.0', method: 'notifications/initialized' });
    return relay;
  }

  #send(relay: ChildProcess, message: object): void {
    relay.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  #take(line: string): void {
    const message = Object(JSON.parse(line));
    if (message.method === 'notifications/progress') {
      const open = this.#open.get(Number(message.params.progressToken));
      if (open) open.progress.push(Number(message.params.progress));
      else if (!this.#crossed(Number(message.params.progressToken))) this.strays.push(line.slice(0, 500));
      return;
    }
    if (typeof message.method === 'string' || message.result?.serverInfo) return;
    const id = Number(message.id);
    const open = this.#open.get(id);
    if (open) this.#end(id, readAnswer(message, open.progress));
    else if (!this.#crossed(id)) this.strays.push(line.slice(0, 500));
  }
}

function running(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}
