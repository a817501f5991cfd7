import { CancelAnswerMs, PartChars } from '../../../wire/wire.gen.ts';
import { hold } from '../held.ts';
import type { FromBridge, Live, ToBridge } from '../port-message.ts';
import type { Host } from './hosts.ts';

type Progress = Extract<FromBridge, { op: 'progress' }>;

/** Call is a call that was handed to a host and whose ending the server has not confirmed. */
interface Call {
  readonly id: string;
  readonly number: number;
  readonly host: Host;
  /** ending is set when the host is done with it; kept until the worker acknowledges it. */
  ending?: FromBridge[];
  /** waiting is progress that could not be sent. */
  waiting: Progress[];
}

/** Desk is the bridge's table of calls, between the hosts and the worker's port. */
export interface Desk {
  /** fromHost takes a message of a host (handshake.ts). */
  fromHost(host: Host, text: string): void;
  /** fromWorker takes a message of the worker. */
  fromWorker(message: ToBridge): void;
  /** connected tells that a port is there: everything the worker may not know is sent. */
  connected(): void;
  /** abandon cancels all calls: there will never be a worker again. */
  abandon(reason: string): void;
}

/** makeDesk returns a desk that sends by post, which returns false while there is no port. */
export function makeDesk(post: (message: FromBridge) => boolean): Desk {
  const hosts = new Map<string, Host>();
  const live = new Map<string, Live>();
  const byId = new Map<string, Call>();
  const byNumber = new Map<number, Call>();
  let numbers = 0;

  const announce = () => {
    const running = [...byId.values()].filter((call) => !call.ending);
    post({
      op: 'live',
      plugins: [...live.values()],
      running: running.map((call) => ({ id: call.id, plugin: call.host.plugin })),
    });
  };
  const forget = (call: Call) => {
    byId.delete(call.id);
    byNumber.delete(call.number);
  };
  const end = (call: Call, ending: FromBridge[]) => {
    // Its reports go before it; what waits for a port waits for the same port.
    call.ending = ending;
    byNumber.delete(call.number);
    for (const message of ending) post(message);
  };

  const start = (message: Extract<ToBridge, { op: 'call' }>) => {
    const { id, plugin, tool, maxBytes, args } = message;
    const host = hosts.get(plugin);
    if (byId.has(id)) return;
    if (!host) {
      const text = `the plugin ${plugin} is not live in this tab`;
      post({ op: 'error', id, error: JSON.stringify({ code: 'navigated', message: text }) });
      return;
    }
    const call: Call = { id, number: ++numbers, host, waiting: [] };
    byId.set(id, call);
    byNumber.set(call.number, call);
    host.send(JSON.stringify(['call', call.number, tool, maxBytes, args]));
  };

  const cancel = (id: string, reason: string) => {
    const call = byId.get(id);
    if (!call || call.ending) {
      // Who cancels a call wants its result no more.
      if (call) forget(call);
      post({ op: 'cancelled', id, outcome: 'finished' });
      return;
    }
    call.host.send(JSON.stringify(['cancel', call.number, reason]));
    setTimeout(() => {
      if (byId.get(id) !== call) return;
      forget(call);
      post({ op: 'cancelled', id, outcome: 'ignored' });
    }, CancelAnswerMs);
  };

  const progress = (call: Call, rest: string) => {
    const [count = '', rest2 = ''] = cutAt(rest);
    const [skipped = '', reports = ''] = cutAt(rest2);
    const message: Progress = { op: 'progress', id: call.id, count: Number(count), skipped: Number(skipped), reports };
    if (!post(message)) hold(call.waiting, message);
  };

  const fromHost = (host: Host, text: string) => {
    const [op, rest] = cutAt(text);
    if (op === 'ready' || op === 'broken') {
      hosts.set(host.plugin, host);
      const entry: Live = { name: host.plugin, hash: host.hash };
      if (op === 'broken') entry.problem = rest;
      live.set(host.plugin, entry);
      announce();
      return;
    }
    const [number, body] = cutAt(rest);
    const call = byNumber.get(Number(number));
    if (!call || call.host !== host) return;
    switch (op) {
      case 'p':
        progress(call, body);
        break;
      case 'r':
        end(call, resultMessages(call.id, body));
        break;
      case 'n':
        end(call, [{ op: 'result', id: call.id }]);
        break;
      case 'e':
        end(call, [{ op: 'error', id: call.id, error: body }]);
        break;
      case 'a':
      case 'f':
        forget(call);
        post({ op: 'cancelled', id: call.id, outcome: op === 'a' ? 'aborted' : 'finished' });
        break;
    }
  };

  return {
    fromHost,
    fromWorker: (message) => {
      switch (message.op) {
        case 'call':
          start(message);
          break;
        case 'cancel':
          cancel(message.id, message.reason);
          break;
        case 'ack':
          for (const id of message.ids) {
            const call = byId.get(id);
            if (call) forget(call);
          }
          break;
      }
    },
    connected: () => {
      announce();
      for (const call of byId.values()) {
        for (const message of call.waiting.splice(0)) post(message);
        for (const message of call.ending ?? []) post(message);
      }
    },
    abandon: (reason) => {
      for (const call of byId.values()) {
        if (!call.ending) call.host.send(JSON.stringify(['cancel', call.number, reason]));
      }
    },
  };
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
