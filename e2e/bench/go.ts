/**
 * Runs the Go program of the benchmark (internal/bench): the client that measures calls, and the reference servers
 * ("floors").
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { repositoryRoot } from '../harness/process.ts';

export const benchProgram = process.env.BENCH_BIN ?? `${repositoryRoot}bin/bench`;

/** internal/bench/order.go documents the fields of a ClientCommand. */
export type ClientCommand = { readonly do: string } & Readonly<Record<string, unknown>>;

const CommandAnswer = z.object({ ok: z.unknown().optional(), failed: z.string().optional() });

/** All times in a CallsAnswer are in nanoseconds. */
export const CallsAnswer = z.object({
  eachNs: z.array(z.number()),
  allNs: z.number(),
  failed: z.number(),
  problem: z.string().default(''),
  bytes: z.number(),
  hops: z.array(z.array(z.object({ station: z.string(), startUs: z.number(), us: z.number() }))).default([]),
});

/** All times in a StreamAnswer are in milliseconds since 1970. */
export const StreamAnswer = z.object({
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

export const CancelAnswer = z.object({ sentMs: z.number() });

/** All times in a StartAnswer are in milliseconds. */
export const StartAnswer = z.object({
  acceptsMs: z.number(),
  healthMs: z.number(),
  listMs: z.number(),
  tools: z.number(),
  rssBytes: z.number(),
  anonBytes: z.number(),
});

export class GoClient {
  readonly #child = startBenchProgram(['client']);
  readonly #lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();

  async sendCommand<T>(command: ClientCommand, schema: z.ZodType<T>): Promise<T> {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    const answerLine = await this.#lines.next();
    if (answerLine.done) throw new Error(`the bench client exited during the command ${command.do}`);
    const commandAnswer = CommandAnswer.parse(JSON.parse(answerLine.value));
    if (commandAnswer.failed !== undefined) throw new Error(`bench client, ${command.do}: ${commandAnswer.failed}`);
    return schema.parse(commandAnswer.ok);
  }

  /**
   * If token is empty, the Go client connects to a plain HTTP server instead of an MCP server. If isTraced is true, the
   * Go client also reports the duration of each hop of a call.
   */
  async connect(target: string, url: string, token = '', isTraced = false): Promise<void> {
    await this.sendCommand({ do: 'connect', target, url, token, isTraced }, z.unknown());
  }

  close(): Promise<void> {
    return endProcess(this.#child);
  }
}

export interface GoServer {
  readonly port: number;
  readonly pid: number;
  close(): Promise<void>;
}

export async function startServer(...args: readonly string[]): Promise<GoServer> {
  const child = startBenchProgram(args);
  const answerLine = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const port = Number(answerLine.value);
  if (answerLine.done || !(port > 0)) throw new Error(`bench ${args.join(' ')} did not start`);
  return { port, pid: child.pid ?? 0, close: () => endProcess(child) };
}

/** internal/bench/subscribers.go documents the fields of EventCounts. */
const EventCounts = z.object({ least: z.number(), most: z.number(), missed: z.number(), bytes: z.number() });

export interface EventSubscribers {
  count(): Promise<z.infer<typeof EventCounts>>;
  close(): Promise<void>;
}

/** If leavesEventsUnread is true, the clients connect to the event stream but read no events. */
export async function startEventSubscribers(
  port: number,
  token: string,
  count: number,
  leavesEventsUnread = false,
): Promise<EventSubscribers> {
  const args = ['subscribers', '-port', `${port}`, '-token', token, '-n', `${count}`];
  const child = startBenchProgram(leavesEventsUnread ? [...args, '-stuck'] : args);
  const outputLines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  if (Number((await outputLines.next()).value) !== count) throw new Error('the subscribers did not start');
  return {
    async count() {
      child.stdin.write('\n');
      return EventCounts.parse(JSON.parse(String((await outputLines.next()).value)));
    },
    close: () => endProcess(child),
  };
}

function startBenchProgram(args: readonly string[]): ChildProcessWithoutNullStreams {
  const child = spawn(benchProgram, args);
  child.stderr.pipe(process.stderr);
  child.on('error', (error) => {
    throw new Error(`${benchProgram} can't be started; run make bench, which builds it: ${error.message}`);
  });
  return child;
}

async function endProcess(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.stdin.end();
  await exited;
}
