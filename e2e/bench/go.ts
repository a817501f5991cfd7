/** The Go half (internal/bench): the client that measures, and the servers of the floors. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { repositoryRoot } from '../harness/process.ts';

/** program is the built internal/bench. */
export const program = process.env.BENCH_BIN ?? `${repositoryRoot}bin/bench`;

/** Order is one line to the client; internal/bench/order.godocuments the fields. */
export type Order = { readonly do: string } & Readonly<Record<string, unknown>>;

const Answer = z.object({ ok: z.unknown().optional(), failed: z.string().optional() });

/** Measured is the response to the order "calls". Times are in nanoseconds. */
export const Measured = z.object({
  eachNs: z.array(z.number()),
  allNs: z.number(),
  failed: z.number(),
  problem: z.string().default(''),
  bytes: z.number(),
});

/** Streamed is the answer to the order "stream". Times are milliseconds since 1970. */
export const Streamed = z.object({
  beganMs: z.number(),
  endedMs: z.number(),
  events: z
    .array(
      z.object({
        atMs: z.number(),
        message: z.object({
          params: z.object({
            message: z.string().default(''),
            progress: z.number().optional(),
            total: z.number().optional(),
          }),
        }),
      }),
    )
    .nullable(),
  result: z.unknown(),
});

/** Cancelled is the answer to the order "cancel". */
export const Cancelled = z.object({ sentMs: z.number() });

/** Started is the answer to the order "start". */
export const Started = z.object({
  acceptsMs: z.number(),
  healthMs: z.number(),
  listMs: z.number(),
  tools: z.number(),
  rssBytes: z.number(),
  anonBytes: z.number(),
});

/** GoClient carries out orders, one after the other. */
export class GoClient {
  readonly #child = start(['client']);
  readonly #lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();

  /** carryOut gives one order and returns its answer. */
  async carryOut<T>(order: Order, shape: z.ZodType<T>): Promise<T> {
    this.#child.stdin.write(`${JSON.stringify(order)}\n`);
    const line = await this.#lines.next();
    if (line.done) throw new Error(`bench client ended while it did ${order.do}`);
    const answer = Answer.parse(JSON.parse(line.value));
    if (answer.failed !== undefined) throw new Error(`bench client, ${order.do}: ${answer.failed}`);
    return shape.parse(answer.ok);
  }

  /** connect makes a target; with a token it is an MCP server. */
  async connect(target: string, url: string, token = ''): Promise<void> {
    await this.carryOut({ do: 'connect', target, url, token }, z.unknown());
  }

  close(): Promise<void> {
    return end(this.#child);
  }
}

/** GoServer is one of the servers, on its port. */
export interface GoServer {
  readonly port: number;
  readonly pid: number;
  close(): Promise<void>;
}

/** startServer starts a server. */
export async function startServer(...args: readonly string[]): Promise<GoServer> {
  const child = start(args);
  const line = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const port = Number(line.value);
  if (line.done || !(port > 0)) throw new Error(`bench ${args.join(' ')} did not start`);
  return { port, pid: child.pid ?? 0, close: () => end(child) };
}

/** Counted is what followers of /events have read; internal/bench/followers.godocuments the fields. */
const Counted = z.object({ least: z.number(), most: z.number(), missed: z.number(), bytes: z.number() });

/** Crowd are clients that follow the events of one server. */
export interface Crowd {
  count(): Promise<z.infer<typeof Counted>>;
  close(): Promise<void>;
}

/** startCrowd returns n followers of a server once all of them follow; stuck ones read nothing. */
export async function startCrowd(port: number, token: string, n: number, stuck = false): Promise<Crowd> {
  const args = ['followers', '-port', `${port}`, '-token', token, '-n', `${n}`];
  const child = start(stuck ? [...args, '-stuck'] : args);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  if (Number((await lines.next()).value) !== n) throw new Error('the followers did not start');
  return {
    async count() {
      child.stdin.write('\n');
      return Counted.parse(JSON.parse(String((await lines.next()).value)));
    },
    close: () => end(child),
  };
}

function start(args: readonly string[]): ChildProcessWithoutNullStreams {
  const child = spawn(program, args);
  child.stderr.pipe(process.stderr);
  child.on('error', (error) => {
    throw new Error(`${program} can't be started; run make bench, which builds it: ${error.message}`);
  });
  return child;
}

/** end closes the child's input, at which it ends. */
async function end(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.stdin.end();
  await exited;
}
