import { DOWN, OFFER, ROLL_CALL, TAKEN, UP } from '../handshake.ts';
import { makeRunner, type Runner } from './call.ts';
import { makeContainer } from './container.ts';
import { messageOf } from './failure.ts';
import { makeFlood } from './flood.ts';
import { exactInteger } from './number.ts';
import {
  addEventListener,
  apply,
  bare,
  construct,
  dataOf,
  dataProperty,
  defineProperty,
  delay,
  disconnect,
  dispatchEvent,
  documentElementOf,
  firstChildOf,
  hasOwn,
  isArray,
  isObject,
  lastChildOf,
  NativeMessageChannel,
  NativeMessageEvent,
  NativeMutationObserver,
  observe,
  parseJson,
  port1Of,
  port2Of,
  postMessage,
  probed,
  readyStateOf,
  realDocument,
  removeEventListener,
  soon,
  startPort,
  toJson,
} from './primordials.ts';
import type { Outcome } from './result.ts';

/** Evaluate is the adapter's code as a function; its parameters are named globalThis, window and self. */
export type Evaluate = (this: unknown, scope: unknown, asWindow: unknown, asSelf: unknown) => void;

/**
 * start runs one plugin's adapter in this document. It must be called at document_start; in a document that has content
 * already a page script may have run, so nothing is done there. The adapter is evaluated once a bridge has taken the
 * port, still before the first page script.
 */
export function start(plugin: string, hash: string, evaluate: Evaluate): void {
  if (!pristine()) return;
  const port = firstPort();
  const up = (text: string) => {
    apply(dispatchEvent, port, [message(UP, text)]);
  };
  const container = makeContainer(plugin);
  const flood = makeFlood(
    (call, count, skipped, reports) => up(`p ${call} ${count} ${skipped} ${reports}`),
    atEndOfTask(() => flood.flush()),
  );
  const runner = makeRunner(plugin, container.read, {
    report: flood.add,
    ask: (call, ask, body) => {
      flood.flush();
      up(`q ${call} ${ask} ${body}`);
    },
    end: (call, outcome) => {
      flood.flush();
      up(outcomeMessage(call, outcome));
    },
    aborted: (call) => {
      flood.flush();
      up(`a ${call}`);
    },
  });

  listen(port, (text) => {
    const parts: unknown = parseJson(text, exactInteger);
    if (isObject(parts) && isArray(parts)) take(runner, parts, up);
  });
  offer(port, toJson([plugin, hash]), () => up(evaluated(evaluate, container.scope, runner.check)));
}

/** take does what a message of the bridge asks for; see handshake.ts. */
function take(runner: Runner, parts: readonly unknown[], up: (text: string) => void): void {
  // A place that is not there would be looked up on Array.prototype, which is the page's.
  const at = (index: number): unknown => (hasOwn(parts, index) ? parts[index] : undefined);
  const op = at(0);
  const call = at(1);
  if (typeof call !== 'number') return;
  if (op === 'cancel') {
    if (!runner.cancel(call, asText(at(2)))) up(`f ${call}`);
  } else if (op === 'call') {
    const maxBytes = at(3);
    if (typeof maxBytes !== 'number') return;
    const prompt = at(5) === true;
    runner.run({ call, tool: asText(at(2)), maxBytes, args: at(4), prompt, decision: at(6) });
  } else if (op === 'answer') {
    const ask = at(2);
    if (typeof ask === 'number') runner.answer(call, ask, at(3) === true, at(4));
  } else if (op === 'resync') {
    runner.resync(call, asText(at(2)));
  }
}

/** pristine tells whether the document is as it was before its first script. */
function pristine(): boolean {
  const root = apply(documentElementOf, realDocument, []);
  const child = isObject(root) ? apply(firstChildOf, root, []) : null;
  // The probe's frame is there until the bridge has called the roll.
  if (child !== null && !(probed && isObject(root) && apply(lastChildOf, root, []) === child)) return false;
  return apply(readyStateOf, realDocument, []) === 'loading';
}

/** firstPort returns a port that is used as an event target only. */
function firstPort(): EventTarget {
  const port = apply(port1Of, construct(NativeMessageChannel, []), []);
  if (!isTarget(port)) throw new TypeError('opentabs: MessageChannel has no port');
  return port;
}

function isTarget(value: unknown): value is MessagePort {
  return isObject(value);
}

/** message builds an event that carries text. */
function message(type: string, text: string, port?: unknown): Event {
  const init = bare();
  defineProperty(init, 'data', dataProperty(text));
  if (port !== undefined) defineProperty(init, 'ports', dataProperty([port]));
  return construct(NativeMessageEvent, [type, init]);
}

/**
 * listen calls take for each message of the bridge. The work is done in a microtask: while a listener runs, page code
 * that it calls could take the port from `window.event`.
 */
function listen(port: EventTarget, take: (text: string) => void): void {
  const noted = (event: unknown) => {
    const text = isObject(event) ? apply(dataOf, event, []) : undefined;
    if (typeof text === 'string') {
      soon(() => {
        try {
          take(text);
        } catch {
          // A message that can't be read is not from the bridge of this version. An error that left this microtask
          // would be shown to the page.
        }
      });
    }
  };
  apply(addEventListener, port, [DOWN, noted]);
}

/**
 * offer hands port to the bridge at the first roll call, and to nobody after that, and calls taken once, in a microtask,
 * when it was taken. The bridge starts after the hosts; if there is none, the end of the task or the document's first
 * child ends the offer, so that a page can't call the roll itself.
 */
function offer(port: EventTarget, introduction: string, taken: () => void): void {
  const close = () => {
    apply(removeEventListener, realDocument, [ROLL_CALL, handOver]);
    apply(disconnect, observer, []);
  };
  const handOver = () => {
    close();
    if (pristine()) apply(dispatchEvent, realDocument, [message(OFFER, introduction, port)]);
    apply(removeEventListener, port, [TAKEN, heard]);
  };
  // The bridge answers an offer at once, so that the host knows it was heard.
  const heard = () => {
    apply(removeEventListener, port, [TAKEN, heard]);
    soon(taken);
  };
  const observer = construct(NativeMutationObserver, [close]);
  apply(addEventListener, port, [TAKEN, heard]);
  apply(addEventListener, realDocument, [ROLL_CALL, handOver]);
  const what = bare();
  defineProperty(what, 'childList', dataProperty(true));
  defineProperty(what, 'subtree', dataProperty(true));
  apply(observe, observer, [realDocument, what]);
  delay(close, 0);
}

/** evaluated runs the adapter's code and returns the message that tells how that went. It never throws. */
function evaluated(evaluate: Evaluate, scope: object, check: () => string): string {
  try {
    apply(evaluate, scope, [scope, scope, scope]);
    const problem = check();
    return problem === '' ? 'ready' : `broken ${problem}`;
  } catch (error) {
    return `broken the adapter threw while it started: ${messageOf(error)}`;
  }
}

/** atEndOfTask returns a function that has work run after the current task, also in a hidden tab, where timers wait. */
function atEndOfTask(work: () => void): () => void {
  const channel = construct(NativeMessageChannel, []);
  const receiver = apply(port1Of, channel, []);
  const sender = apply(port2Of, channel, []);
  if (!isTarget(receiver) || !isTarget(sender)) throw new TypeError('opentabs: MessageChannel has no ports');
  apply(addEventListener, receiver, ['message', work]);
  apply(startPort, receiver, []);
  return () => apply(postMessage, sender, [0]);
}

function outcomeMessage(call: number, outcome: Outcome): string {
  switch (outcome.kind) {
    case 'result':
      return `r ${call} ${outcome.text}`;
    case 'error':
      return `e ${call} ${outcome.text}`;
    case 'nothing':
      return `n ${call}`;
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
