/** The model: which endings of a call are right, given the faults that fell into its time. */
import type { Ending } from './ending.ts';
import { type FaultKind, type Limits, limits, type PlannedCall, type PlannedFault } from './plan.ts';

/** Struck is a fault that happened; times are milliseconds since the soak began. */
export interface Struck {
  readonly plan: PlannedFault;
  readonly fromMs: number;
  /** When the fault itself was over. */
  overMs?: number;
  /** When the next call worked without help. */
  healedMs?: number;
  /** When all tabs were there again; absent while they are not. */
  untilMs?: number;
}

/** Made is a call that was made. */
export interface Made {
  readonly plan: PlannedCall;
  readonly key: string;
  readonly clientName: string;
  /** The limits that were in force when it was made. */
  readonly limits: Limits;
  readonly fromMs: number;
  readonly toMs: number;
  readonly ending: Ending;
}

/** settleMs is how long after a fault its traces may still end calls: the grace period and what a busy machine adds. */
const settleMs = 2_000;
/** graceMs is how long the server waits for a lost link. */
const graceMs = 10_000;
/** slackMs is how late an ending may be on a machine whose two cores run a browser, a server and this program. */
const slackMs = 8_000;

/** Plain is how a call ends, and when at the latest, if nothing goes wrong and it need not wait in the queue. */
interface Plain {
  readonly codes: readonly string[];
  readonly ms: number;
}

function plain(call: Made): Plain {
  const { kind, stopAfterMs } = call.plan;
  const { codes, ms } = unstopped(call);
  if (stopAfterMs === undefined) return { codes, ms };
  // A cancel and an ending may cross each other.
  const soon = stopAfterMs + 500 >= ms;
  return { codes: kind === 'flood' || soon ? ['silent', ...codes] : ['silent'], ms: stopAfterMs + 3_000 };
}

function unstopped(call: Made): Plain {
  const { idleMs, hardMs } = limits[call.limits];
  const { count, everyMs, forMs } = Object(call.plan.args);
  switch (call.plan.kind) {
    case 'tooBig':
      return { codes: ['result_too_large'], ms: 0 };
    case 'fails':
    case 'throws':
      return { codes: ['tool_error'], ms: 0 };
    case 'invalid':
      return { codes: ['invalid_arguments'], ms: 0 };
    case 'unknown':
      return { codes: ['rpc:-32602'], ms: 0 };
    case 'silent':
    case 'deaf':
      return forMs < idleMs ? { codes: ['ok'], ms: forMs } : { codes: ['idle_timeout'], ms: idleMs };
    case 'long':
    case 'forever':
    case 'cancelled':
    case 'left':
      return forMs > 0 && forMs < hardMs ? { codes: ['ok'], ms: forMs } : { codes: ['deadline_exceeded'], ms: hardMs };
    case 'steps':
    case 'untold':
    case 'flood':
      return { codes: ['ok'], ms: count * (everyMs + 10) };
    default:
      return { codes: ['ok'], ms: 0 };
  }
}

/** Without a server: a connection that is refused or breaks, or a session that the next server does not know. */
const serverGone = ['transport', 'refused', 'shutdown', 'silent', 'rpc:-32603', 'rpc:-32001', 'rpc:-32000'];
const noBrowser = ['no_browser', 'browser_lost', 'link_lost', 'no_tab', 'navigated', 'tab_closed', 'not_ready'];

/** noDocument: a call that names its tab may find it gone; any other goes to another tab. */
function noDocument(call: Made, ...codes: string[]): readonly string[] {
  return call.plan.tab === undefined ? codes : [...codes, 'no_tab', 'navigated', 'not_ready'];
}

/** extra is what each fault may do to a call that it falls into. */
const extra: Readonly<Record<FaultKind, (call: Made, fault: Struck) => readonly string[]>> = {
  'worker stopped': (call, fault) => late(call, fault),
  'link cut': (call, fault) => late(call, fault),
  'link half-open': (call, fault) => late(call, fault),
  'server SIGTERM': () => [...serverGone, ...noBrowser],
  'server SIGKILL': () => [...serverGone, ...noBrowser],
  'server SIGSTOP': (call, fault) => late(call, fault),
  'tab reloaded': (call) => noDocument(call, 'navigated'),
  'tab navigated': (call) => noDocument(call, 'navigated'),
  'tab away and back': (call) => noDocument(call, 'navigated'),
  'tab closed': (call) => noDocument(call, 'tab_closed'),
  'tab discarded': (call) => noDocument(call, 'tab_discarded'),
  'tab frozen': (call, fault) => late(call, fault),
  'extension reloaded': () => noBrowser,
  'browser SIGKILL': () => noBrowser,
  'session deleted': (call, fault) => (hits(call, fault) ? ['silent', 'refused', 'transport'] : []),
  'client killed': (call, fault) => (hits(call, fault) ? ['silent', 'transport'] : []),
  'panel opened': () => [],
};

/** breaksLink are the faults after which the idle limit begins anew. */
const breaksLink: ReadonlySet<FaultKind> = new Set(['worker stopped', 'link cut', 'link half-open', 'server SIGSTOP']);

/** hits tells whether the fault was about this call's client. */
function hits(call: Made, fault: Struck): boolean {
  return call.plan.client === fault.plan.client;
}

/** late: reports that are held up for longer than the idle limit leaves cannot be seen in time. */
function late(call: Made, fault: Struck): readonly string[] {
  const { idleMs, hardMs } = limits[call.limits];
  const heldMs = (fault.untilMs ?? call.toMs) - fault.fromMs;
  const everyMs = Number(Object(call.plan.args).everyMs ?? 0);
  return [
    ...(heldMs + everyMs + 500 >= idleMs ? ['idle_timeout'] : []),
    // The idle limit begins anew when a lost link is back, so a handler that is silent for a little longer gets through.
    ...(call.plan.kind === 'deaf' ? ['ok'] : []),
    ...(heldMs + call.toMs - call.fromMs >= hardMs ? ['deadline_exceeded'] : []),
  ];
}

/** overlaps tells whether a fault fell into the time of a call. */
export function overlaps(call: Made, fault: Struck): boolean {
  return fault.fromMs <= call.toMs && (fault.untilMs ?? Number.POSITIVE_INFINITY) + settleMs >= call.fromMs;
}

/** stale tells whether a client may still have the session of a server that was restarted: no later call of its was answered. */
function stale(call: Made, struck: readonly Struck[], made: readonly Made[]): boolean {
  const restart = struck.findLast((f) => /SIGTERM|SIGKILL/.test(f.plan.kind) && f.plan.kind.startsWith('server'));
  return (
    restart !== undefined &&
    !made.some(
      (m) =>
        m.plan.client === call.plan.client && m.fromMs > restart.fromMs && m.toMs < call.fromMs && m.ending.answers > 0,
    )
  );
}

/** judge returns what is wrong with how a call ended; nothing if it is right. */
export function judge(call: Made, struck: readonly Struck[], made: readonly Made[]): string[] {
  const wrong: string[] = [];
  const during = struck.filter((f) => overlaps(call, f));
  const { codes, ms } = plain(call);
  const allowed = new Set([...codes, ...during.flatMap((f) => extra[f.plan.kind](call, f))]);
  const { code, progress, answers } = call.ending;
  if (code === 'refused' && stale(call, struck, made)) allowed.add(code);
  if (!allowed.has(code)) wrong.push(`it ended with ${code}; right would be ${[...allowed].join(', ')}`);
  if (answers > 1) wrong.push(`it was answered ${answers} times`);
  if (answers === 1 && (code === 'silent' || code === 'transport')) wrong.push('it was answered and not answered');
  for (const [i, n] of progress.entries()) {
    const before = progress[i - 1];
    if (before !== undefined && !(n > before)) wrong.push(`progress went from ${before} to ${n}`);
  }
  if (call.plan.kind === 'untold' && progress.length > 0) wrong.push('progress came without a token');
  const { idleMs } = limits[call.limits];
  const heldMs = during.reduce(
    (sum, f) => sum + (f.untilMs ?? call.toMs) - f.fromMs + (breaksLink.has(f.plan.kind) ? idleMs : 0),
    0,
  );
  const lateMs = call.toMs - call.fromMs - ms - heldMs - (during.length > 0 ? graceMs : 0);
  if (lateMs > slackMs)
    wrong.push(`it took ${Math.round(call.toMs - call.fromMs)} ms, ${Math.round(lateMs)} ms more than it may`);
  if (code === 'ok') wrong.push(...wrongResult(call));
  return wrong;
}

/** wrongResult compares a result with what the page was asked for. */
function wrongResult(call: Made): string[] {
  const got = Object(call.ending.structured);
  const { args, kind } = call.plan;
  if (got.key !== call.key) return [`it got the result of ${got.key}`];
  if (kind === 'echo' && JSON.stringify(got.value) !== JSON.stringify(args.value)) return ['the echo differs'];
  if (kind !== 'big') return [];
  const text = String(got.text);
  if (text.length !== args.bytes) return [`${text.length} of ${args.bytes} bytes came`];
  for (let at = 0; at < text.length; at += 1024) {
    if (!text.startsWith(`${at} `.slice(0, text.length - at), at)) return [`the text is wrong at ${at}`];
  }
  return [];
}
