import {
  type Frame,
  type NotificationFrame,
  notification,
  parseFrame,
  type RequestFrame,
  readResult,
  request,
} from '../../../wire/frame.ts';
import {
  CloseReplaced,
  CloseVersion,
  CodeVersion,
  type HelloParams,
  type HelloResult,
  type NotificationMethod,
  type Notifications,
  PingIntervalMs,
  type RequestMethod,
  type Requests,
  Subprotocol,
  TokenSubprotocolPrefix,
  Version,
} from '../../../wire/wire.gen.ts';
import type { OpenSocket, Socket } from './socket.ts';

/** Connection is where the server listens, as `opentabs extension install` wrote it beside the manifest. */
export interface Connection {
  readonly port: number;
  readonly token: string;
}

/** Down says why there is no link. */
export type Down = 'not_installed' | 'no_server' | 'refused' | 'version' | 'replaced' | 'lost';

/** LinkState is what the panel shows of the link. text is the server's own sentence where it gave one. */
export type LinkState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly serverVersion: string }
  | { readonly kind: 'down'; readonly why: Down; readonly text: string };

export interface LinkOptions {
  /** connection is asked before each try, so that a new install is seen. */
  connection(): Promise<Connection | undefined>;
  /** hello is asked before each try. */
  hello(): Promise<HelloParams>;
  open: OpenSocket;
  /** serverThere tells whether a server answers on the port at all; asked after a try that failed. */
  serverThere(port: number): Promise<boolean>;
  /** opened is called when hello was answered, before anything else the server sends is handed on. */
  opened(server: HelloResult): void;
  /** lost is called when an open link is gone. */
  lost(): void;
  request(frame: RequestFrame): void;
  notification(frame: NotificationFrame): void;
  changed(state: LinkState): void;
  /** random returns a number from 0 to 1, for jitter. */
  random(): number;
}

/** Times in milliseconds. */
const RetryMs = 600;
const RetryJitterMs = 300;
const SlowRetryMs = 30_000;
const OpenMs = 5000;
const AnswerMs = 10_000;
const DeadMs = 45_000;
const CheckMs = 5000;

interface Pending {
  readonly method: RequestMethod;
  answered(frame: Frame): void;
}

/** Link is the connection to the server. It tries for ever. */
export interface Link {
  readonly state: LinkState;
  /** start makes the first try; later calls make a try at once if there is no link. */
  start(): void;
  /** restart drops the link and makes a new one, for what is told in hello or after it. */
  restart(): void;
  /** send sends a frame; false means that there is no link. */
  send(text: string): boolean;
  /** request asks the server. It rejects when the link is lost, when 10 s have passed, and with the server's error. */
  request<M extends RequestMethod>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']>;
  notify<M extends NotificationMethod>(method: M, params: Notifications[M]): boolean;
}

/** makeLink returns a link that was not started. */
export function makeLink(options: LinkOptions): Link {
  let state: LinkState = { kind: 'connecting' };
  let socket: Socket | undefined;
  let trying = false;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let pulse: ReturnType<typeof setInterval> | undefined;
  let heardAt = 0;
  let pingedAt = 0;
  let requests = 0;
  const pending = new Map<string, Pending>();

  const become = (next: LinkState) => {
    state = next;
    options.changed(next);
  };

  const tryOnce = async () => {
    if (trying || socket) return;
    trying = true;
    clearTimeout(retry);
    try {
      const [connection, hello] = await Promise.all([options.connection(), options.hello()]);
      if (connection) dial(connection, hello);
      else down('not_installed', '', RetryMs);
    } catch (error) {
      down('lost', String(error), RetryMs);
    } finally {
      trying = false;
    }
  };

  const dial = (connection: Connection, hello: HelloParams) => {
    let refusal: string | undefined;
    const protocols = [Subprotocol, TokenSubprotocolPrefix + connection.token];
    let opened = false;
    /** ended acts on the end of this socket, whoever hung up. */
    const ended = (code: number, reason: string) => {
      clearTimeout(late);
      if (socket !== mine) return;
      hangUp();
      void explain(refusal === undefined ? code : CloseVersion, refusal ?? reason, opened, connection.port);
    };
    /** refuse hangs up; a server that hangs would let close take its time. */
    const refuse = (code: number, reason: string) => {
      ended(code, reason);
      mine.close();
    };
    const late = setTimeout(() => refuse(0, 'the server did not answer'), OpenMs);
    const mine = options.open(`ws://127.0.0.1:${connection.port}/ws`, protocols, {
      opened: () => {
        opened = true;
        greet();
      },
      text: (text) => {
        if (socket === mine) take(text);
      },
      closed: ended,
    });
    socket = mine;
    const greet = () => {
      heardAt = Date.now();
      call('hello', hello).then(
        (server) => {
          clearTimeout(late);
          if (socket !== mine) return;
          if (server.protocol === Version) welcome(server);
          else refuse(CloseVersion, versions(server));
        },
        (error: unknown) => {
          // The server closes the socket after a refusal, but its sentence is here already.
          if (error instanceof RefusedError && error.code === CodeVersion) refusal = error.message;
          refuse(0, error instanceof Error ? error.message : String(error));
        },
      );
    };
  };

  const welcome = (server: HelloResult) => {
    pingedAt = Date.now();
    pulse = setInterval(beat, CheckMs);
    become({ kind: 'open', serverVersion: server.serverVersion });
    options.opened(server);
  };

  const beat = () => {
    const now = Date.now();
    if (now - heardAt >= DeadMs) {
      const dead = socket;
      hangUp();
      dead?.close();
      down('lost', 'the server did not answer for 45 s', 0);
      return;
    }
    if (now - pingedAt >= PingIntervalMs) {
      pingedAt = now;
      call('ping', {}).catch(() => undefined);
    }
  };

  /** hangUp forgets the socket and ends everything that waits for its answers. */
  const hangUp = () => {
    const wasOpen = state.kind === 'open';
    socket = undefined;
    clearInterval(pulse);
    for (const [id, entry] of pending) {
      pending.delete(id);
      entry.answered({ kind: 'invalid', problem: 'the link to the server was lost' });
    }
    if (wasOpen) {
      become({ kind: 'connecting' });
      options.lost();
    }
  };

  /** explain finds out why a socket closed: a browser tells a script neither status nor text of a refused handshake. */
  const explain = async (code: number, reason: string, opened: boolean, port: number) => {
    if (code === CloseVersion) return down('version', reason, SlowRetryMs);
    if (code === CloseReplaced) return down('replaced', reason, SlowRetryMs);
    if (opened) return down('lost', reason, RetryMs);
    trying = true;
    const there = await options.serverThere(port).catch(() => false);
    trying = false;
    if (socket) return;
    down(there ? 'refused' : 'no_server', '', RetryMs);
  };

  const down = (why: Down, text: string, waitMs: number) => {
    if (state.kind !== 'down' || state.why !== why || state.text !== text) become({ kind: 'down', why, text });
    clearTimeout(retry);
    retry = setTimeout(() => void tryOnce(), waitMs + options.random() * RetryJitterMs);
  };

  const take = (text: string) => {
    heardAt = Date.now();
    const frame = parseFrame(text);
    switch (frame.kind) {
      case 'request':
        options.request(frame);
        break;
      case 'notification':
        options.notification(frame);
        break;
      case 'invalid':
        console.warn(`opentabs: a frame of the server was refused: ${frame.problem}`);
        if (frame.reply !== undefined) socket?.send(frame.reply);
        break;
      default: {
        const entry = pending.get(frame.id);
        pending.delete(frame.id);
        entry?.answered(frame);
      }
    }
  };

  const call = <M extends RequestMethod>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> =>
    new Promise((resolve, reject) => {
      if (!socket) {
        reject(new Error('there is no link to the server'));
        return;
      }
      const id = `b${++requests}`;
      const late = setTimeout(() => {
        pending.delete(id);
        reject(new Error(`the server did not answer ${method} for ${AnswerMs / 1000} s`));
      }, AnswerMs);
      pending.set(id, {
        method,
        answered: (frame) => {
          clearTimeout(late);
          if (frame.kind === 'result') {
            const result = readResult(method, frame.result);
            if (result.ok) resolve(result.value);
            else reject(new Error(`the server's answer to ${method} can't be read: ${result.problem}`));
          } else if (frame.kind === 'error') reject(new RefusedError(frame.error.code, frame.error.message));
          else reject(new Error(frame.kind === 'invalid' ? frame.problem : 'no answer'));
        },
      });
      socket.send(request(id, method, params));
    });

  const send = (text: string): boolean => {
    if (state.kind !== 'open' || !socket) return false;
    socket.send(text);
    return true;
  };
  const start = () => {
    if (!socket && !(state.kind === 'down' && slow(state.why))) void tryOnce();
  };
  const restart = () => {
    const old = socket;
    if (old) hangUp();
    old?.close();
    void tryOnce();
  };
  return {
    get state() {
      return state;
    },
    start,
    restart,
    send,
    request: call,
    notify: (method, params) => send(notification(method, params)),
  };
}

/** RefusedError is the server's error answer to a request. */
export class RefusedError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'RefusedError';
    this.code = code;
  }
}

/** versions says which side to update. */
function versions(server: HelloResult): string {
  const both = `this extension speaks protocol ${Version}, the server (${server.serverVersion}) protocol ${server.protocol}`;
  return server.protocol > Version
    ? `${both}: update the extension with "opentabs extension install" and reload it`
    : `${both}: update the opentabs program`;
}

/** slow tells which faults no further try can mend soon. */
function slow(why: Down): boolean {
  return why === 'version' || why === 'replaced';
}
