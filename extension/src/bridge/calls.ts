import { type CallError, CancelAnswerMs, PartChars } from '../../../wire/wire.gen.ts';
import { hold } from '../held.ts';
import { type FromBridge, StaleCallMs, type ToBridge } from '../port-message.ts';
import { type PortHandlers, route } from '../port-router.ts';
import { type Asks, makeAsks } from './asks.ts';
import type { Host } from './hosts.ts';
import { makeParts, type Parts } from './parts.ts';
import { makePlugins, type Plugins } from './plugins.ts';
import { makeSwaps, type Swaps } from './swaps.ts';

type Progress = Extract<FromBridge, { op: 'progress' }>;

/** Call is a call that was handed to a host and whose ending the server has not confirmed. */
interface Call {
  readonly id: string;
  readonly number: number;
  readonly host: Host;
  /** ending is set when the host is done with it; kept until the worker acknowledges it. One with parts goes by #parts. */
  ending?: FromBridge[];
  /** sent counts the reports so far. */
  sent: number;
  /** waiting is progress that could not be sent. */
  waiting: Progress[];
  readonly asks: Asks;
  /** held is what the host gets once it has its new adapter; undefined if it has it already. */
  held?: string;
}

/** Desk is the bridge's table of plugins and calls, between the hosts and the worker's port. */
export interface Desk {
  readonly plugins: Plugins;
  /** fromHost takes a message of a host (handshake.ts). */
  fromHost(host: Host, text: string): void;
  /** fromWorker takes a message of the worker. */
  fromWorker(message: ToBridge): void;
  /** greeting tells the plugins of this document and the calls that run in it; it comes first on every port. */
  greeting(): FromBridge;
  /** connected tells that a port is there: everything else that the worker may not know is sent. */
  connected(): void;
  /** running is how many calls have not ended. */
  readonly running: number;
  /** leaving tells that the document is being left. */
  leaving(): void;
  /** abandon cancels all calls: there will never be a worker again. */
  abandon(reason: string): void;
}

/** makeDesk returns a desk that sends by post, which returns false while there is no port; visible and meet are those of PluginsOptions. */
export function makeDesk(
  post: (message: FromBridge) => boolean,
  visible: () => boolean = () => true,
  meet: (plugin: string, type: string) => () => void = () => () => undefined,
): Desk {
  return new CallDesk(post, visible, meet);
}

class CallDesk implements Desk {
  readonly #post: (message: FromBridge) => boolean;
  readonly plugins: Plugins;
  readonly #byId = new Map<string, Call>();
  readonly #byNumber = new Map<number, Call>();
  readonly #parts: Parts;
  readonly #swaps: Swaps;
  #numbers = 0;

  constructor(
    post: (message: FromBridge) => boolean,
    visible: () => boolean,
    meet: (plugin: string, type: string) => () => void,
  ) {
    this.#post = post;
    this.#swaps = makeSwaps({
      isBusy: (host) => this.#in(host).length > 0,
      end: (host) => this.#endAll(host),
      release: (host) => this.#release(host),
    });
    this.plugins = makePlugins({
      post,
      visible,
      meet,
      changed: () => this.#post(this.greeting()),
      hashOf: (host) => this.#swaps.hashOf(host),
      swapped: (host) => this.#swaps.finish(host),
    });
    this.#parts = makeParts(post);
  }

  fromHost(host: Host, text: string): void {
    const [op, rest] = cutAt(text);
    if (this.plugins.said(host, op, rest)) return;
    const [number, body] = cutAt(rest);
    const call = this.#byNumber.get(Number(number));
    if (!call || call.host !== host) return;
    switch (op) {
      case 'p':
        this.#progress(call, body);
        break;
      case 'q': {
        const [ask, asked] = cutAt(body);
        this.#post(call.asks.said(Number(ask), asked)); // without a port, connected sends it
        break;
      }
      case 'r':
        this.#end(call, resultMessages(call.id, body));
        break;
      case 'n':
        this.#end(call, [{ op: 'result', id: call.id }]);
        break;
      case 'e':
        this.#end(call, [{ op: 'error', id: call.id, error: body }]);
        break;
      case 'a':
      case 'f':
        this.#forget(call);
        this.#post({ op: 'cancelled', id: call.id, outcome: op === 'a' ? 'aborted' : 'finished' });
        break;
    }
  }

  fromWorker(message: ToBridge): void {
    route(this.#handlers, message.op, message);
  }

  readonly #handlers: PortHandlers<ToBridge> = {
    call: (message) => this.#start(message),
    cancel: ({ id, reason }) => this.#cancel(id, reason),
    answer: (message) => this.#answer(message),
    resync: ({ id, type }) => this.#sendToHost(this.#byId.get(id), 'resync', type),
    taken: () => this.#parts.taken(),
    wake: () => this.plugins.woken(),
    ack: ({ ids }) => {
      for (const id of ids) {
        const call = this.#byId.get(id);
        if (call) this.#forget(call);
      }
    },
    renew: (message) => {
      const host = this.plugins.anyHost(message.plugin);
      if (host) this.#swaps.begin(host, message);
    },
    ping: () => undefined, // answered by the link
    settings: (message) => this.plugins.receive(message),
    probe: (message) => this.plugins.receive(message),
    host: (message) => this.plugins.receive(message),
    meet: (message) => this.plugins.receive(message),
    remove: (message) => this.plugins.receive(message),
  };

  connected(): void {
    this.#swaps.clear();
    for (const call of this.#byId.values()) {
      for (const message of call.waiting.splice(0)) this.#post(message);
      for (const message of call.asks.again()) this.#post(message);
      if (call.ending?.length === 1) for (const message of call.ending) this.#post(message);
    }
    this.#parts.restart();
    this.plugins.connected();
  }

  get running(): number {
    return this.#byNumber.size;
  }

  leaving(): void {
    this.plugins.flush();
    // An ending that was posted just now may be lost with the document, so those count as well until it is confirmed.
    const begun = [...this.#byId.values()].filter((call) => call.held === undefined).map((call) => call.id);
    this.#post({ op: 'leaving', begun });
  }

  abandon(reason: string): void {
    for (const call of this.#byId.values()) {
      this.#sendToHost(call, 'cancel', reason);
    }
  }

  greeting(): FromBridge {
    const { live, vacant, started, based } = this.plugins;
    return {
      op: 'live',
      plugins: live,
      ...(vacant.length > 0 ? { vacant } : {}),
      ...(started.length > 0 ? { started } : {}),
      ...(based ? { based } : {}),
      running: this.#running().map((call) => ({ id: call.id, plugin: call.host.plugin })),
    };
  }

  #running(): Call[] {
    return [...this.#byId.values()].filter((call) => !call.ending);
  }

  #start(message: Extract<ToBridge, { op: 'call' }>): void {
    const { id, plugin, tool, maxBytes, args, prompt = false, decision, atMs = Date.now() } = message;
    if (this.#byId.has(id)) return;
    const lateMs = Date.now() - atMs;
    if (lateMs > StaleCallMs) {
      const why = `the page had not answered for ${Math.round(lateMs / 1000)} s when the call arrived`;
      const error: CallError = { code: 'page_unresponsive', message: why, notStarted: true };
      this.#post({ op: 'error', id, error: JSON.stringify(error) });
      return;
    }
    const host = this.plugins.host(plugin);
    if (!host) {
      this.#post({ op: 'error', id, error: notLive(plugin) });
      return;
    }
    const call: Call = { id, number: ++this.#numbers, host, sent: 0, waiting: [], asks: makeAsks(id) };
    this.#byId.set(id, call);
    this.#byNumber.set(call.number, call);
    const decided = decision === undefined ? '' : `,${decision}`;
    const text = `["call",${call.number},${JSON.stringify(tool)},${maxBytes},${args},${prompt}${decided}]`;
    if (this.#swaps.holds(host)) call.held = text;
    else host.send(text);
  }

  /** in returns the calls that run in the adapter of a host. */
  #in(host: Host): Call[] {
    return [...this.#byNumber.values()].filter((call) => call.host === host && call.held === undefined);
  }

  /** endAll ends the calls that run in the adapter of a host, which is about to be replaced. */
  #endAll(host: Host): void {
    const why = `a new version of the plugin ${host.plugin} took its place while the call ran`;
    const error: CallError = { code: 'plugin_updated', message: why };
    for (const call of this.#in(host)) {
      this.#sendToHost(call, 'cancel', why);
      this.#end(call, [{ op: 'error', id: call.id, error: JSON.stringify(error) }]);
    }
  }

  /** release hands a host the calls that waited for its new adapter. */
  #release(host: Host): void {
    for (const call of [...this.#byNumber.values()]) {
      const { held } = call;
      if (call.host !== host || held === undefined) continue;
      delete call.held;
      if (this.plugins.host(host.plugin) === host) host.send(held);
      else this.#end(call, [{ op: 'error', id: call.id, error: notLive(host.plugin) }]);
    }
  }

  /** sendToHost sends a message about a call to its host, unless the call has ended. */
  #sendToHost(call: Call | undefined, op: 'cancel' | 'resync', text: string): void {
    if (call && !call.ending) call.host.send(JSON.stringify([op, call.number, text]));
  }

  #answer({ id, ask, output, error }: Extract<ToBridge, { op: 'answer' }>): void {
    const call = this.#byId.get(id);
    const state = call?.asks.answered(ask) ?? 'unwanted';
    if (call && state === 'wanted') {
      const value = error ?? output;
      const given = value === undefined ? '' : `,${value}`;
      call.host.send(`["answer",${call.number},${ask},${error === undefined}${given}]`);
    }
    this.#post({ op: 'answered', id, ask, taken: state !== 'unwanted' });
  }

  #cancel(id: string, reason: string): void {
    const call = this.#byId.get(id);
    if (!call || call.ending) {
      // Who cancels a call wants its result no more.
      if (call) this.#forget(call);
      this.#post({ op: 'cancelled', id, outcome: 'finished' });
      return;
    }
    if (call.held !== undefined) {
      this.#forget(call);
      this.#post({ op: 'cancelled', id, outcome: 'aborted' });
      return;
    }
    this.#sendToHost(call, 'cancel', reason);
    setTimeout(() => {
      if (this.#byId.get(id) !== call) return;
      this.#forget(call);
      this.#post({ op: 'cancelled', id, outcome: 'ignored' });
    }, CancelAnswerMs);
  }

  #progress(call: Call, body: string): void {
    const [count, rest] = cutAt(body);
    const [skipped, reports] = cutAt(rest);
    const message: Progress = {
      op: 'progress',
      id: call.id,
      seq: call.sent,
      skipped: Number(skipped),
      reports,
    };
    call.sent += Number(count);
    if (!this.#post(message)) hold(call.waiting, message);
  }

  /** end sends how a call ended and keeps it; progress that waits for a port goes out before it (connected). */
  #end(call: Call, ending: FromBridge[]): void {
    call.ending = ending;
    call.asks.close();
    this.#byNumber.delete(call.number);
    if (ending.length > 1) this.#parts.begin(call.id, ending);
    else for (const message of ending) this.#post(message);
    this.#swaps.settled(call.host);
  }

  #forget(call: Call): void {
    this.#parts.drop(call.id);
    this.#byId.delete(call.id);
    this.#byNumber.delete(call.number);
    this.#swaps.settled(call.host);
  }
}

/** notLive returns the JSON text of a wire.CallError for a call of a plugin that is not in the document. */
function notLive(plugin: string): string {
  const message = `the plugin ${plugin} is not live in this tab`;
  const error: CallError = { code: 'navigated', message, notStarted: true };
  return JSON.stringify(error);
}

/** resultMessages cuts a large result into parts: one message on a port may not be longer than 64 MiB. */
function resultMessages(id: string, text: string): FromBridge[] {
  if (text.length <= PartChars) return [{ op: 'result', id, text }];
  const messages: FromBridge[] = [];
  for (let at = 0; at < text.length; ) {
    // A character of two units is not split: the two halves would not survive as UTF-8.
    const unit = text.charCodeAt(at + PartChars - 1);
    const stop = unit >= 0xd800 && unit <= 0xdbff ? at + PartChars - 1 : at + PartChars;
    messages.push({ op: 'part', id, seq: messages.length, text: text.slice(at, stop) });
    at = stop;
  }
  messages.push({ op: 'result', id, parts: messages.length });
  return messages;
}

/** cutAt splits at the first space. */
function cutAt(text: string): [string, string] {
  const space = text.indexOf(' ');
  return space < 0 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)];
}
